// SPDX-License-Identifier: GPL-2.0-or-later
// The small readers and writers: base64, ethtool's output, cpio archives, bzImage headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "niclab/base64.h"
#include "niclab/cpio.h"
#include "niclab/ethtool.h"
#include "niclab/kernel_image.h"

namespace niclab {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The vectors of RFC 4648, section 10.
TEST(Base64, AgreesWithTheStandardBothWays) {
    const std::pair<const char *, const char *> vectors[] = {{"", ""},
                                                             {"f", "Zg=="},
                                                             {"fo", "Zm8="},
                                                             {"foo", "Zm9v"},
                                                             {"foob", "Zm9vYg=="},
                                                             {"fooba", "Zm9vYmE="},
                                                             {"foobar", "Zm9vYmFy"}};
    for (const auto &[bytes, text] : vectors) {
        EXPECT_EQ(base64_encode(bytes), text);
        EXPECT_EQ(base64_decode(text), bytes);
    }
}

TEST(Base64, EveryByteComesBack) {
    std::string all;
    for (int i = 0; i < 256; ++i)
        all += static_cast<char>(i);
    EXPECT_EQ(base64_decode(base64_encode(all)), all);
}

TEST(Ethtool, StatisticsAreNamesAndNumbers) {
    auto read = parse_ethtool_statistics("NIC statistics:\n"
                                         "     rx_packets: 12\n"
                                         "     tx0: bytes: 18446744073709551615\r\n"
                                         "     rx_text: unknown\n"
                                         "     rx_half: 12 of 13\n"
                                         "     rx_negative: -1\n"
                                         "     no colon\n"
                                         "     last: 7");
    EXPECT_THAT(read, ElementsAre(Pair("last", 7u), Pair("rx_packets", 12u), Pair("tx0: bytes", UINT64_MAX)));
}

TEST(Ethtool, FeaturesAreOnOrOff) {
    auto read = parse_ethtool_features("Features for eth0:\n"
                                       "rx-checksumming: on\n"
                                       "\ttx-checksum-ipv4: off [fixed]\n"
                                       "tx-nocache-copy: off [requested on]\n");
    EXPECT_THAT(read, ElementsAre(Pair("rx-checksumming", true), Pair("tx-checksum-ipv4", false),
                                  Pair("tx-nocache-copy", false)));
}

// Field widths and order of "newc": magic, then thirteen numbers of eight hex digits.
std::string field(const std::string &archive, size_t entry, unsigned number) {
    return archive.substr(entry + 6 + 8 * number, 8);
}

TEST(Cpio, AnArchiveHasFoldersFileAndTrailer) {
    CpioWriter writer;
    writer.add_file("/niclab/hello", 0755, "12345");
    std::string archive = writer.finish();

    EXPECT_EQ(archive.substr(0, 6), "070701");
    EXPECT_EQ(field(archive, 0, 1), "000041ED"); // a folder, 0755
    EXPECT_EQ(archive.substr(110, 7), std::string("niclab\0", 7));

    size_t file = 120; // 110 + 7, on to a multiple of four
    EXPECT_EQ(archive.substr(file, 6), "070701");
    EXPECT_EQ(field(archive, file, 1), "000081ED");  // a file, 0755
    EXPECT_EQ(field(archive, file, 6), "00000005");  // its bytes
    EXPECT_EQ(field(archive, file, 11), "0000000D"); // its name with the zero behind it
    EXPECT_EQ(archive.substr(file + 110, 13), std::string("niclab/hello\0", 13));
    EXPECT_EQ(archive.substr(file + 124, 5), "12345"); // 110 + 13, on to a multiple of four
    EXPECT_NE(archive.find("TRAILER!!!"), std::string::npos);
    EXPECT_EQ(archive.size() % 512, 0u);
}

TEST(Cpio, AFolderIsAddedOnce) {
    CpioWriter writer;
    writer.add_file("a/b/one", 0644, "");
    writer.add_file("a/b/two", 0644, "");
    std::string archive = writer.finish();
    size_t entries = 0;
    for (size_t at = archive.find("070701"); at != std::string::npos; at = archive.find("070701", at + 1))
        ++entries;
    EXPECT_EQ(entries, 5u); // a, a/b, one, two, trailer
}

std::string bzimage(std::string_view payload, std::uint32_t offset, std::uint32_t length) {
    std::string image(3 * 512, '\0');
    image[0x1f1] = 2; // two setup sectors behind the boot sector
    image.replace(0x202, 4, "HdrS");
    for (int i = 0; i < 4; ++i) {
        image[0x248 + i] = static_cast<char>(offset >> 8 * i);
        image[0x24c + i] = static_cast<char>(length >> 8 * i);
    }
    return image + std::string(offset, 'x') + std::string(payload);
}

TEST(KernelImage, ThePayloadLiesWhereTheHeaderSays) {
    std::string image = bzimage("packed....", 5, 10);
    auto payload = bzimage_payload(image);
    ASSERT_TRUE(payload.ok()) << payload.why();
    EXPECT_EQ(*payload, "packed"); // without the four bytes of unpacked length
}

TEST(KernelImage, ABadHeaderIsRefused) {
    EXPECT_FALSE(bzimage_payload("short").ok());
    std::string no_magic = bzimage("packed....", 5, 10);
    no_magic[0x202] = 'h';
    EXPECT_FALSE(bzimage_payload(no_magic).ok());
    EXPECT_FALSE(bzimage_payload(bzimage("packed....", 5, 11)).ok());
    EXPECT_FALSE(bzimage_payload(bzimage("packed....", 5, 4)).ok());
    EXPECT_FALSE(bzimage_payload(bzimage("packed....", 5, 0xffffffff)).ok());
}

} // namespace
} // namespace niclab
