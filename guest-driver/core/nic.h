/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the driver core offers to the kernel glue: a network card. The glue owns netdev, NAPI, skb, ethtool and PCI and makes no
 * decision about the device; the core knows no kernel type. Errors are negative errno values.
 *
 * Contexts: "process" may sleep and is serialised by the caller (RTNL or probe/remove); "napi" is one poller per channel and
 * direction; "irq" is hard interrupt context; "xmit" is under the transmit queue's lock.
 */
#ifndef NICLAB_NIC_H
#define NICLAB_NIC_H

#include "platform.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nic;
struct nic_channel; /* one receive queue, one transmit queue and their completion vector */

#define NIC_MAX_FRAGS 20       /* fragments of one transmitted packet, linear part included */
#define NIC_MAX_HEADER 256 /* headers of an LSO packet, without a tag to be inserted */
#define NIC_MAX_RX_FRAGS 5     /* fragments of one received packet */
#define NIC_MAX_CHANNELS 63
#define NIC_RSS_KEY_BYTES 40
#define NIC_MIN_RING 64
#define NIC_MAX_RING 8192

/* ---- Device life ---- */

/* Callbacks into the glue; `owner` is handed back. Each may be called in irq context. */
struct nic_events {
	void *owner;
	void (*work)(void *owner);                 /* call nic_work() soon, in process context */
	void (*link)(void *owner);                 /* the link may have changed: ask nic_get_link() */
	void (*channel_error)(void *owner, unsigned channel); /* a queue is in error: reopen (nic_close, nic_open) */
};

/*
 * Bring the card up to running: command interface, pages, capabilities, event queues in event mode. `vectors` MSI-X vectors exist and
 * their interrupts may already fire; vector 0 is the control vector, vector 1 + i serves channel i. Process.
 * `*out` is set (never to a half-written pointer) before the first interrupt or callback can come, and stays set when the call fails
 * with work possibly scheduled: stop that work, then nic_destroy(*out). It is NULL when not even the object could be made.
 */
int nic_create(struct plat *, unsigned vectors, const struct nic_events *, struct nic **out);
/*
 * Gives every page back and leaves the card as found; works on a card that is gone, and on a card whose nic_create() failed. The
 * caller has closed the queues and cancelled its use of nic_work(); the interrupts still come, and find NULL in `*nic` before it is
 * freed. NULL is fine. Process.
 */
void nic_destroy(struct nic **nic);

void nic_control_interrupt(struct nic *);          /* irq: vector 0 */
/* irq: vector 1 + channel. Nonzero when the channel wants polling. */
int nic_channel_interrupt(struct nic *, unsigned channel);
void nic_work(struct nic *);                       /* process: page requests and other deferred events */
/* Process, every two seconds or so. 0 when healthy; -EIO once the card is known dead (all later commands fail fast). */
int nic_health(struct nic *);

struct nic_info {
	unsigned char mac[6];
	unsigned max_channels;
	unsigned max_mtu;        /* netdev MTU */
	unsigned max_lso_bytes;  /* whole packet */
	unsigned fw_major, fw_minor, fw_sub;
	char board_id[17];
};
void nic_describe(const struct nic *, struct nic_info *);

struct nic_link {
	int up;
	unsigned speed_mbps; /* 0 when down or unknown */
};
int nic_get_link(struct nic *, struct nic_link *);     /* process */

/* ---- Open and close ---- */

enum nic_rx_map { NIC_RX_MAP_FRAGMENT }; /* how receive memory is mapped: every fragment when posted */

struct nic_params {
	unsigned channels;      /* 1..max_channels */
	unsigned tx_entries;    /* 64-byte blocks, a power of two */
	unsigned rx_entries;    /* packets, a power of two */
	unsigned mtu;           /* netdev MTU */
	int vlan_strip;
	enum nic_rx_map rx_map;
	unsigned char rss_key[NIC_RSS_KEY_BYTES];
};
/* All queues ready, receive rings filled, port up, frames arriving after the first nic_set_filter(). All or nothing. Process. */
int nic_open(struct nic *, const struct nic_params *);
/* Nothing is in flight when this returns. Completes no packet: reclaim them with nic_tx_drain() before. Process, NAPI stopped. */
void nic_close(struct nic *);
struct nic_channel *nic_get_channel(struct nic *, unsigned index); /* valid between open and close */

struct nic_filter {
	unsigned char mac[6];
	int promiscuous, all_multicast;
	int vlan_filter;               /* 0: frames of every VLAN pass */
	const unsigned char (*addresses)[6]; /* further unicast and multicast addresses */
	unsigned address_count;
	const unsigned short *vlans;
	unsigned vlan_count;
};
int nic_set_filter(struct nic *, const struct nic_filter *); /* process, while open */
int nic_set_vlan_strip(struct nic *, int on);                /* process, while open */

/* ---- Transmit ---- */

struct nic_frag {
	struct plat_page *page;
	unsigned offset, bytes;
};
struct nic_tx_packet {
	void *cookie;             /* comes back from nic_tx_reap(); not NULL */
	const void *header;       /* LSO: all headers, at most NIC_MAX_HEADER bytes, copied into the descriptor; else NULL */
	unsigned header_bytes;
	unsigned mss;             /* LSO: payload bytes per segment; else 0 */
	unsigned segments;        /* packets on the wire, 1 without LSO */
	unsigned wire_bytes;      /* for byte-queue limits and statistics */
	int checksum;             /* fill in L3 (IPv4) and L4 checksums */
	int vlan_insert;
	unsigned short vlan_tci;
	unsigned frag_count;      /* payload (everything but `header`) */
	struct nic_frag frags[NIC_MAX_FRAGS];
};
/*
 * Map and queue one packet. 0, -EBUSY when the ring has no room (stop the queue), -EINVAL for an illegal packet, -EIO once the queue
 * is in error, or the error of a mapping. Packets posted before stay valid: ring for them. Xmit.
 */
int nic_tx_post(struct nic_channel *, const struct nic_tx_packet *);
void nic_tx_ring(struct nic_channel *);            /* tell the card about all posted packets. Xmit */
int nic_tx_has_room(const struct nic_channel *);   /* nonzero when any legal packet fits */

struct nic_tx_done {
	void *cookie;
	unsigned bytes;
};
/* Completed packets, oldest first, unmapped. Napi. */
unsigned nic_tx_reap(struct nic_channel *, struct nic_tx_done *, unsigned max);
/* After the queues stopped: every packet still owned by the ring, unmapped. Ends the send queue: only nic_close() may follow. Process. */
unsigned nic_tx_drain(struct nic_channel *, struct nic_tx_done *, unsigned max);

/* ---- Receive ---- */

enum nic_hash { NIC_HASH_NONE, NIC_HASH_L3, NIC_HASH_L4 };
struct nic_rx_packet {
	unsigned bytes;
	unsigned memory_bytes; /* held by the fragments, whether filled or not: for socket accounting */
	unsigned frag_count;
	struct nic_frag frags[NIC_MAX_RX_FRAGS]; /* the caller owns one reference to each page */
	unsigned hash;
	enum nic_hash hash_kind;
	int checksum_ok;          /* L3 and L4 verified by the card */
	int checksum_complete;    /* `checksum` is the sum from the network header to the end of the frame as delivered */
	unsigned short checksum;  /* ones' complement sum in network byte order, not inverted */
	int vlan_stripped;
	unsigned short vlan_tci;
};
/* Up to `max` received packets, ready for the CPU. Frames with errors are counted and recycled. Napi. */
unsigned nic_rx_poll(struct nic_channel *, struct nic_rx_packet *, unsigned max);
/* Post fresh buffers for what was consumed. 0, or -ENOMEM when the ring could not be filled up: poll again later. Napi. */
int nic_rx_refill(struct nic_channel *);

/* Ask for an interrupt at the next completion; a completion already there counts as next. Napi. */
void nic_rx_arm(struct nic_channel *);
void nic_tx_arm(struct nic_channel *);

/* ---- Statistics ---- */

struct nic_queue_stats {
	unsigned long long rx_packets, rx_bytes, rx_errors, rx_no_memory, rx_csum_complete, rx_csum_ok, rx_csum_none;
	unsigned long long tx_packets, tx_bytes, tx_segments, tx_errors, tx_doorbells, tx_busy, tx_map_errors;
	unsigned long long dma_maps, dma_unmaps;
};
/* Sums over the life of the device, also across close and open. Any context. */
void nic_get_queue_stats(const struct nic *, unsigned channel, struct nic_queue_stats *);

struct nic_port_stats {
	unsigned long long rx_unicast_packets, rx_unicast_bytes, rx_multicast_packets, rx_multicast_bytes;
	unsigned long long rx_broadcast_packets, rx_broadcast_bytes, rx_error_packets;
	unsigned long long tx_unicast_packets, tx_unicast_bytes, tx_multicast_packets, tx_multicast_bytes;
	unsigned long long tx_broadcast_packets, tx_broadcast_bytes, tx_error_packets;
	unsigned long long rx_out_of_buffer, phy_rx_packets, phy_rx_bytes, phy_tx_packets, phy_tx_bytes;
};
int nic_get_port_stats(struct nic *, struct nic_port_stats *); /* process: asks the card */

#ifdef __cplusplus
}
#endif

#endif
