// SPDX-License-Identifier: GPL-2.0-or-later
/* What ethtool shows and sets. */
#include <linux/ethtool.h>

#include "kernel/niclab.h"

/* One row per counter: its name and where its value is. */
struct counter {
	const char *name;
	size_t offset;
};

#define QUEUE_COUNTER(field) { #field, offsetof(struct nic_queue_stats, field) }
#define PORT_COUNTER(field) { #field, offsetof(struct nic_port_stats, field) }

static const struct counter queue_counters[] = {
	QUEUE_COUNTER(rx_packets),
	QUEUE_COUNTER(rx_bytes),
	QUEUE_COUNTER(rx_errors),
	QUEUE_COUNTER(rx_no_memory),
	QUEUE_COUNTER(rx_csum_complete),
	QUEUE_COUNTER(rx_csum_ok),
	QUEUE_COUNTER(rx_csum_none),
	QUEUE_COUNTER(tx_packets),
	QUEUE_COUNTER(tx_bytes),
	QUEUE_COUNTER(tx_segments),
	QUEUE_COUNTER(tx_errors),
	QUEUE_COUNTER(tx_doorbells),
	QUEUE_COUNTER(tx_busy),
	QUEUE_COUNTER(tx_map_errors),
	QUEUE_COUNTER(dma_maps),
	QUEUE_COUNTER(dma_unmaps),
};

static const struct counter port_counters[] = {
	PORT_COUNTER(rx_unicast_packets),
	PORT_COUNTER(rx_unicast_bytes),
	PORT_COUNTER(rx_multicast_packets),
	PORT_COUNTER(rx_multicast_bytes),
	PORT_COUNTER(rx_broadcast_packets),
	PORT_COUNTER(rx_broadcast_bytes),
	PORT_COUNTER(rx_error_packets),
	PORT_COUNTER(tx_unicast_packets),
	PORT_COUNTER(tx_unicast_bytes),
	PORT_COUNTER(tx_multicast_packets),
	PORT_COUNTER(tx_multicast_bytes),
	PORT_COUNTER(tx_broadcast_packets),
	PORT_COUNTER(tx_broadcast_bytes),
	PORT_COUNTER(tx_error_packets),
	PORT_COUNTER(rx_out_of_buffer),
	PORT_COUNTER(phy_rx_packets),
	PORT_COUNTER(phy_rx_bytes),
	PORT_COUNTER(phy_tx_packets),
	PORT_COUNTER(phy_tx_bytes),
};

static_assert(ARRAY_SIZE(queue_counters) == sizeof(struct nic_queue_stats) / sizeof(u64));
static_assert(ARRAY_SIZE(port_counters) == sizeof(struct nic_port_stats) / sizeof(u64));

static u64 value_of(const void *stats, const struct counter *counter)
{
	return *(const unsigned long long *)(stats + counter->offset);
}

static void niclab_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	const struct niclab *lab = niclab_of(netdev);

	strscpy(info->driver, NICLAB_DRIVER, sizeof(info->driver));
	strscpy(info->version, NICLAB_VERSION, sizeof(info->version));
	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u.%04u (%s)", lab->info.fw_major,
		 lab->info.fw_minor, lab->info.fw_sub, lab->info.board_id);
	strscpy(info->bus_info, pci_name(lab->plat.pdev), sizeof(info->bus_info));
}

/* Sums over all queues first, then the port's counters, then each queue's own. */
static int niclab_get_sset_count(struct net_device *netdev, int set)
{
	const struct niclab *lab = niclab_of(netdev);

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(queue_counters) * (1 + lab->max_channels) + ARRAY_SIZE(port_counters);
}

static void niclab_get_strings(struct net_device *netdev, u32 set, u8 *names)
{
	const struct niclab *lab = niclab_of(netdev);
	unsigned int i, channel;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(queue_counters); i++)
		ethtool_sprintf(&names, "%s", queue_counters[i].name);
	for (i = 0; i < ARRAY_SIZE(port_counters); i++)
		ethtool_sprintf(&names, "port_%s", port_counters[i].name);
	for (channel = 0; channel < lab->max_channels; channel++)
		for (i = 0; i < ARRAY_SIZE(queue_counters); i++)
			ethtool_sprintf(&names, "ch%u_%s", channel, queue_counters[i].name);
}

static void niclab_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *request,
				     u64 *values)
{
	struct niclab *lab = niclab_of(netdev);
	u64 *own = values + ARRAY_SIZE(queue_counters) + ARRAY_SIZE(port_counters);
	struct nic_port_stats port = {};
	struct nic_queue_stats queue;
	unsigned int i, channel;

	memset(values, 0, ARRAY_SIZE(queue_counters) * sizeof(*values));
	for (channel = 0; channel < lab->max_channels; channel++) {
		nic_get_queue_stats(lab->nic, channel, &queue);
		for (i = 0; i < ARRAY_SIZE(queue_counters); i++) {
			*own = value_of(&queue, &queue_counters[i]);
			values[i] += *own++;
		}
	}
	if (nic_get_port_stats(lab->nic, &port))
		netdev_err(netdev, "the card does not tell its port counters\n");
	for (i = 0; i < ARRAY_SIZE(port_counters); i++)
		values[ARRAY_SIZE(queue_counters) + i] = value_of(&port, &port_counters[i]);
}

static void niclab_get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel_ring,
				 struct netlink_ext_ack *extack)
{
	const struct niclab *lab = niclab_of(netdev);

	ring->rx_max_pending = NIC_MAX_RING;
	ring->tx_max_pending = NIC_MAX_RING;
	ring->rx_pending = lab->params.rx_entries;
	ring->tx_pending = lab->params.tx_entries;
}

static int niclab_set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	struct niclab *lab = niclab_of(netdev);
	struct nic_params params = lab->params;

	if (ring->rx_mini_pending || ring->rx_jumbo_pending)
		return -EINVAL;
	if (ring->rx_pending < NIC_MIN_RING || ring->tx_pending < NIC_MIN_RING) {
		NL_SET_ERR_MSG_MOD(extack, "the shortest ring is " __stringify(NIC_MIN_RING));
		return -EINVAL;
	}
	params.rx_entries = roundup_pow_of_two(ring->rx_pending);
	params.tx_entries = roundup_pow_of_two(ring->tx_pending);
	return niclab_reconfigure(lab, &params);
}

static void niclab_get_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	const struct niclab *lab = niclab_of(netdev);

	channels->max_combined = lab->max_channels;
	channels->combined_count = lab->params.channels;
}

static int niclab_set_channels(struct net_device *netdev, struct ethtool_channels *channels)
{
	struct niclab *lab = niclab_of(netdev);
	struct nic_params params = lab->params;

	if (!channels->combined_count)
		return -EINVAL;
	params.channels = channels->combined_count;
	return niclab_reconfigure(lab, &params);
}

static int niclab_get_link_ksettings(struct net_device *netdev,
				     struct ethtool_link_ksettings *settings)
{
	const struct niclab *lab = niclab_of(netdev);
	bool up = netif_carrier_ok(netdev);

	settings->base.speed = up && lab->link.speed_mbps ? lab->link.speed_mbps : SPEED_UNKNOWN;
	settings->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

const struct ethtool_ops niclab_ethtool_ops = {
	.get_drvinfo = niclab_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = niclab_get_link_ksettings,
	.get_sset_count = niclab_get_sset_count,
	.get_strings = niclab_get_strings,
	.get_ethtool_stats = niclab_get_ethtool_stats,
	.get_ringparam = niclab_get_ringparam,
	.set_ringparam = niclab_set_ringparam,
	.get_channels = niclab_get_channels,
	.set_channels = niclab_set_channels,
};
