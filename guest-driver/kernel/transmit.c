// SPDX-License-Identifier: GPL-2.0-or-later
/* From skb to the core's packet, and back to the stack when the card is done with it. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/tcp.h>

#include "kernel/niclab.h"

#define NICLAB_TX_BATCH 32      /* completions taken from the core at once */
#define NICLAB_TX_POLL_LIMIT 512 /* completions of one poll, so that receiving gets its turn */

static_assert(MAX_SKB_FRAGS + 1 <= NIC_MAX_FRAGS);

static void add_frag(struct nic_tx_packet *packet, struct page *page, unsigned int offset,
		     unsigned int bytes)
{
	packet->frags[packet->frag_count++] = (struct nic_frag){
		.page = niclab_plat_page(page),
		.offset = offset,
		.bytes = bytes,
	};
}

/* The bytes of the skb behind the first `skip`, which are all in its linear part. */
static void add_payload(struct nic_tx_packet *packet, const struct sk_buff *skb, unsigned int skip)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int i;

	if (skb_headlen(skb) > skip) {
		const void *data = skb->data + skip;

		add_frag(packet, virt_to_page(data), offset_in_page(data), skb_headlen(skb) - skip);
	}
	for (i = 0; i < info->nr_frags; i++)
		add_frag(packet, skb_frag_page(&info->frags[i]), skb_frag_off(&info->frags[i]),
			 skb_frag_size(&info->frags[i]));
}

static void describe(struct nic_tx_packet *packet, struct sk_buff *skb)
{
	unsigned int headers = 0;

	packet->cookie = skb;
	packet->header = NULL;
	packet->header_bytes = 0;
	packet->mss = 0;
	packet->segments = 1;
	packet->wire_bytes = skb->len;
	packet->checksum = skb->ip_summed == CHECKSUM_PARTIAL;
	packet->vlan_insert = skb_vlan_tag_present(skb);
	packet->vlan_tci = packet->vlan_insert ? skb_vlan_tag_get(skb) : 0;
	packet->frag_count = 0;
	if (skb_is_gso(skb)) {
		headers = skb_tcp_all_headers(skb);
		packet->header = skb->data;
		packet->header_bytes = headers;
		packet->mss = skb_shinfo(skb)->gso_size;
		packet->segments = DIV_ROUND_UP(skb->len - headers, packet->mss);
		packet->wire_bytes += (packet->segments - 1) * headers;
	}
	add_payload(packet, skb, headers);
}

/*
 * Stops the queue while no packet of any size would fit. Reports whether it stays stopped.
 * Either we see the room that niclab_tx_poll() made, or it sees our stop.
 */
static bool stop_if_full(struct niclab_channel *channel, struct netdev_queue *queue)
{
	if (likely(nic_tx_has_room(channel->queues)))
		return false;
	netif_tx_stop_queue(queue);
	smp_mb(); /* pairs with that in niclab_tx_poll() */
	if (!nic_tx_has_room(channel->queues))
		return true;
	netif_tx_start_queue(queue);
	return false;
}

static netdev_tx_t drop(struct niclab_channel *channel, struct sk_buff *skb)
{
	dev_kfree_skb_any(skb);
	WRITE_ONCE(channel->tx_dropped, channel->tx_dropped + 1);
	/* Packets before this one may wait for the doorbell that it was to ring. */
	if (!netdev_xmit_more())
		nic_tx_ring(channel->queues);
	return NETDEV_TX_OK;
}

netdev_tx_t niclab_start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct niclab_channel *channel = &niclab_of(netdev)->channels[skb_get_queue_mapping(skb)];
	struct netdev_queue *queue = netdev_get_tx_queue(netdev, channel->index);
	struct nic_tx_packet packet;
	bool stopped;
	int error;

	describe(&packet, skb);
	skb_tx_timestamp(skb);
	error = nic_tx_post(channel->queues, &packet);
	if (unlikely(error == -EBUSY)) {
		nic_tx_ring(channel->queues);
		stop_if_full(channel, queue);
		return NETDEV_TX_BUSY;
	}
	if (unlikely(error))
		return drop(channel, skb);
	stopped = stop_if_full(channel, queue);
	if (__netdev_tx_sent_queue(queue, packet.wire_bytes, netdev_xmit_more()) || stopped)
		nic_tx_ring(channel->queues);
	return NETDEV_TX_OK;
}

/* Returns whether all that was completed has been taken. */
bool niclab_tx_poll(struct niclab_channel *channel, int budget)
{
	struct netdev_queue *queue = netdev_get_tx_queue(channel->lab->netdev, channel->index);
	struct nic_tx_done done[NICLAB_TX_BATCH];
	unsigned int packets = 0, bytes = 0, count, i;

	do {
		count = nic_tx_reap(channel->queues, done, NICLAB_TX_BATCH);
		for (i = 0; i < count; i++) {
			bytes += done[i].bytes;
			napi_consume_skb(done[i].cookie, budget);
		}
		packets += count;
	} while (count == NICLAB_TX_BATCH && packets < NICLAB_TX_POLL_LIMIT);
	if (packets == 0)
		return true;
	netdev_tx_completed_queue(queue, packets, bytes);
	smp_mb(); /* pairs with that in stop_if_full() */
	if (unlikely(netif_tx_queue_stopped(queue)) && nic_tx_has_room(channel->queues))
		netif_tx_wake_queue(queue);
	return count < NICLAB_TX_BATCH;
}

/* The queues are stopped and will be closed: take everything back. */
void niclab_tx_drain(struct niclab_channel *channel)
{
	struct nic_tx_done done[NICLAB_TX_BATCH];
	unsigned int count, i;

	do {
		count = nic_tx_drain(channel->queues, done, NICLAB_TX_BATCH);
		for (i = 0; i < count; i++)
			dev_kfree_skb_any(done[i].cookie);
	} while (count > 0);
	netdev_tx_reset_queue(netdev_get_tx_queue(channel->lab->netdev, channel->index));
}
