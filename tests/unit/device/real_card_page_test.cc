// SPDX-License-Identifier: GPL-2.0-or-later
// The page that sets our card beside a real one: its tables hold what the fixture and the card really say.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "spec/caps.h"
#include "support/command_driver.h"
#include "unit/device/fixtures/real_card.h"

namespace niclab::test {
namespace {

using G = GeneralCaps;
struct Size {
    const char *name;
    Field<G> field;
};
constexpr Size kSizes[] = {
    {"log_max_qp", G::log_max_qp},
    {"log_max_cq_sz", G::log_max_cq_sz},
    {"log_max_cq", G::log_max_cq},
    {"log_max_eq_sz", G::log_max_eq_sz},
    {"log_max_mkey", G::log_max_mkey},
    {"log_max_eq", G::log_max_eq},
    {"max_wqe_sz_sq", G::max_wqe_sz_sq},
    {"max_wqe_sz_rq", G::max_wqe_sz_rq},
    {"log_max_transport_domain", G::log_max_transport_domain},
    {"log_max_pd", G::log_max_pd},
    {"log_max_rq", G::log_max_rq},
    {"log_max_sq", G::log_max_sq},
    {"log_max_tir", G::log_max_tir},
    {"log_max_tis", G::log_max_tis},
    {"log_max_rqt", G::log_max_rqt},
    {"log_max_rqt_size", G::log_max_rqt_size},
    {"log_max_wq_sz", G::log_max_wq_sz},
    {"log_max_vlan_list", G::log_max_vlan_list},
    {"log_max_current_mc_list", G::log_max_current_mc_list},
    {"log_max_current_uc_list", G::log_max_current_uc_list},
};

// The page's table rows that start with a name in code quotes, each without what stands in its last column.
std::set<std::string> rows_on_page() {
    std::ifstream file(NICLAB_SOURCE_ROOT "/docs/real-card.md");
    std::set<std::string> rows;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("| `")) rows.insert(line.substr(0, line.rfind('|', line.size() - 2) + 1));
    return rows;
}

u32 theirs(Field<G> field) {
    for (real_card::Word word : real_card::kGeneralMaximum)
        if (word.offset == field.dword) return word.value >> field.lo & field.mask();
    return 0;
}

std::string command_row(u16 opcode, usize times) {
    std::ostringstream row;
    row << "| `" << cx_core_command_name(opcode) << "` | " << times << " |";
    return row.str();
}

TEST(RealCardPage, ListsEveryCommandOfTheTraceAndEverySize) {
    FakeHost host;
    CommandDriver driver{host};
    driver.enable();
    CommandResult ours = driver.must({Opcode::query_hca_cap, QueryHcaCapIn::bytes, 0}, QueryHcaCapOut::bytes);
    std::set<std::string> expected;
    for (const Size &size : kSizes) {
        std::ostringstream row;
        row << "| `" << size.name << "` | " << theirs(size.field) << " | "
            << ours.get(size.field, QueryHcaCapOut::capability) << " |";
        expected.insert(row.str());
    }
    for (const real_card::Exchange &exchange : real_card::kStart)
        expected.insert(command_row(exchange.opcode,
                                    std::count_if(std::begin(real_card::kStart), std::end(real_card::kStart),
                                                  [&](auto &e) { return e.opcode == exchange.opcode; })));
    expected.insert(command_row(static_cast<u16>(Opcode::create_eq), real_card::kEqsCreated));
    EXPECT_EQ(rows_on_page(), expected);
}

} // namespace
} // namespace niclab::test
