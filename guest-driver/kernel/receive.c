// SPDX-License-Identifier: GPL-2.0-or-later
/* From the core's packet to skb and into GRO. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "kernel/niclab.h"

#define NICLAB_COPY_BREAK 256 /* shorter packets are copied, so that they do not hold a page */

static void free_pages_of(const struct nic_rx_packet *packet)
{
	unsigned int i;

	for (i = 0; i < packet->frag_count; i++)
		plat_page_unref(packet->frags[i].page);
}

static void *frag_address(const struct nic_frag *frag)
{
	return plat_page_address(frag->page) + frag->offset;
}

static void set_checksum(struct sk_buff *skb, const struct nic_rx_packet *packet)
{
	if (!(skb->dev->features & NETIF_F_RXCSUM))
		return;
	if (packet->checksum_ok) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	} else if (packet->checksum_complete) {
		skb->ip_summed = CHECKSUM_COMPLETE;
		skb->csum = csum_unfold((__force __sum16)packet->checksum);
	}
}

static void set_metadata(struct niclab_channel *channel, struct sk_buff *skb,
			 const struct nic_rx_packet *packet)
{
	skb_record_rx_queue(skb, channel->index);
	set_checksum(skb, packet);
	if (packet->vlan_stripped)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), packet->vlan_tci);
	if (!(skb->dev->features & NETIF_F_RXHASH))
		return;
	if (packet->hash_kind == NIC_HASH_L4)
		skb_set_hash(skb, packet->hash, PKT_HASH_TYPE_L4);
	else if (packet->hash_kind == NIC_HASH_L3)
		skb_set_hash(skb, packet->hash, PKT_HASH_TYPE_L3);
}

/* A short packet is one fragment. */
static bool receive_copy(struct niclab_channel *channel, const struct nic_rx_packet *packet)
{
	struct sk_buff *skb = napi_alloc_skb(&channel->napi, packet->bytes);

	if (!skb)
		return false;
	skb_put_data(skb, frag_address(&packet->frags[0]), packet->bytes);
	free_pages_of(packet);
	set_metadata(channel, skb, packet);
	skb->protocol = eth_type_trans(skb, channel->lab->netdev);
	napi_gro_receive(&channel->napi, skb);
	return true;
}

/* The references to the pages go to the skb; GRO pulls the headers out of the first. */
static bool receive_pages(struct niclab_channel *channel, const struct nic_rx_packet *packet)
{
	struct sk_buff *skb = napi_get_frags(&channel->napi);
	unsigned int i;

	if (!skb)
		return false;
	for (i = 0; i < packet->frag_count; i++) {
		const struct nic_frag *frag = &packet->frags[i];

		skb_add_rx_frag(skb, i, niclab_page(frag->page), frag->offset, frag->bytes, 0);
	}
	skb->truesize += packet->memory_bytes;
	set_metadata(channel, skb, packet);
	napi_gro_frags(&channel->napi);
	return true;
}

static void receive(struct niclab_channel *channel, const struct nic_rx_packet *packet)
{
	bool copy = packet->frag_count == 1 && packet->bytes <= NICLAB_COPY_BREAK;

	prefetch(frag_address(&packet->frags[0]));
	if (copy ? receive_copy(channel, packet) : receive_pages(channel, packet))
		return;
	free_pages_of(packet);
	WRITE_ONCE(channel->rx_dropped, channel->rx_dropped + 1);
}

/* Returns the packets received, or the budget when polling must go on. */
int niclab_rx_poll(struct niclab_channel *channel, int budget)
{
	unsigned int most = min_t(unsigned int, budget, ARRAY_SIZE(channel->received));
	unsigned int count, i;

	if (budget == 0) /* netpoll wants completions only */
		return 0;
	count = nic_rx_poll(channel->queues, channel->received, most);
	for (i = 0; i < count; i++)
		receive(channel, &channel->received[i]);
	if (nic_rx_refill(channel->queues))
		return budget;
	return count;
}
