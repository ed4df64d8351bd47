// SPDX-License-Identifier: GPL-2.0-or-later
/* The network device: open and close, settings, link. All that sleeps here runs under RTNL. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>

#include "kernel/niclab.h"

#define NICLAB_TX_FEATURES \
	(NETIF_F_SG | NETIF_F_IP_CSUM | NETIF_F_IPV6_CSUM | NETIF_F_TSO | NETIF_F_TSO6)
#define NICLAB_FEATURES                                                                   \
	(NICLAB_TX_FEATURES | NETIF_F_RXCSUM | NETIF_F_RXHASH | NETIF_F_HW_VLAN_CTAG_TX | \
	 NETIF_F_HW_VLAN_CTAG_RX | NETIF_F_HW_VLAN_CTAG_FILTER)

static int channel_poll(struct napi_struct *napi, int budget)
{
	struct niclab_channel *channel = container_of(napi, struct niclab_channel, napi);
	bool tx_done = niclab_tx_poll(channel, budget);
	int received = niclab_rx_poll(channel, budget);

	if (!tx_done || received >= budget)
		return budget;
	if (napi_complete_done(napi, received)) {
		nic_rx_arm(channel->queues);
		nic_tx_arm(channel->queues);
	}
	return received;
}

static void link_refresh(struct niclab *lab)
{
	struct nic_link link = {};

	if (nic_get_link(lab->nic, &link))
		link = (struct nic_link){};
	lab->link = link;
	if (link.up == netif_carrier_ok(lab->netdev))
		return;
	if (link.up) {
		netdev_info(lab->netdev, "link up, %u Mbit/s\n", link.speed_mbps);
		netif_carrier_on(lab->netdev);
	} else {
		netdev_info(lab->netdev, "link down\n");
		netif_carrier_off(lab->netdev);
	}
}

void niclab_link_work(struct work_struct *work)
{
	struct niclab *lab = container_of(work, struct niclab, link_work);

	rtnl_lock();
	if (lab->open)
		link_refresh(lab);
	rtnl_unlock();
}

static void queues_start(struct niclab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->params.channels; i++) {
		struct niclab_channel *channel = &lab->channels[i];

		channel->queues = nic_get_channel(lab->nic, i);
		napi_enable(&channel->napi);
	}
	netif_tx_start_all_queues(lab->netdev);
	/* The first poll arms the completion queues. */
	local_bh_disable();
	for (i = 0; i < lab->params.channels; i++)
		napi_schedule(&lab->channels[i].napi);
	local_bh_enable();
}

/* Polling ends first, so that it wakes no transmit queue again. */
static void queues_stop(struct niclab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->params.channels; i++)
		napi_disable(&lab->channels[i].napi);
	/* napi_disable() waits until a poll has said that it is complete, and ours arms the queues after that. */
	synchronize_net();
	netif_tx_disable(lab->netdev);
	for (i = 0; i < lab->params.channels; i++)
		niclab_tx_drain(&lab->channels[i]);
}

static void lab_close(struct niclab *lab)
{
	if (!lab->open)
		return;
	lab->open = false;
	netif_carrier_off(lab->netdev);
	queues_stop(lab);
	nic_close(lab->nic);
}

static int lab_open(struct niclab *lab)
{
	unsigned int channels = lab->params.channels;
	int error = netif_set_real_num_queues(lab->netdev, channels, channels);

	if (error)
		return error;
	error = nic_open(lab->nic, &lab->params);
	if (error)
		return error;
	queues_start(lab);
	lab->open = true;
	error = niclab_filter_refresh(lab);
	if (error) {
		lab_close(lab);
		return error;
	}
	link_refresh(lab);
	return 0;
}

/*
 * Opens again with other settings, or with the old ones if the card refuses. A closed device just
 * keeps them.
 */
int niclab_reconfigure(struct niclab *lab, const struct nic_params *params)
{
	struct nic_params before = lab->params;
	int error;

	if (!netif_running(lab->netdev)) {
		lab->params = *params;
		return 0;
	}
	lab_close(lab);
	lab->params = *params;
	error = lab_open(lab);
	if (!error)
		return 0;
	lab->params = before;
	if (lab_open(lab))
		netdev_err(lab->netdev, "the old settings fail as well; the device stays without traffic\n");
	return error;
}

void niclab_recover_work(struct work_struct *work)
{
	struct niclab *lab = container_of(work, struct niclab, recover_work);
	int error = 0;

	rtnl_lock();
	if (lab->open) {
		netdev_warn(lab->netdev, "opening the queues again\n");
		lab_close(lab);
		error = lab_open(lab);
	}
	rtnl_unlock();
	if (error)
		netdev_err(lab->netdev, "the queues cannot be opened: error %d\n", error);
}

static int niclab_open(struct net_device *netdev)
{
	return lab_open(niclab_of(netdev));
}

static int niclab_stop(struct net_device *netdev)
{
	lab_close(niclab_of(netdev));
	return 0;
}

static void niclab_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct niclab *lab = niclab_of(netdev);

	netdev_err(netdev, "transmit queue %u stands still\n", queue);
	niclab_schedule(lab, &lab->recover_work);
}

static void niclab_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	struct niclab *lab = niclab_of(netdev);
	struct nic_queue_stats queue;
	unsigned int i;

	for (i = 0; i < lab->max_channels; i++) {
		nic_get_queue_stats(lab->nic, i, &queue);
		stats->rx_packets += queue.rx_packets;
		stats->rx_bytes += queue.rx_bytes;
		stats->rx_errors += queue.rx_errors;
		stats->rx_dropped += READ_ONCE(lab->channels[i].rx_dropped);
		stats->tx_packets += queue.tx_segments;
		stats->tx_bytes += queue.tx_bytes;
		stats->tx_errors += queue.tx_errors;
		stats->tx_dropped += READ_ONCE(lab->channels[i].tx_dropped);
	}
}

static int niclab_change_mtu(struct net_device *netdev, int mtu)
{
	struct niclab *lab = niclab_of(netdev);
	struct nic_params params = lab->params;
	int error;

	params.mtu = mtu;
	error = niclab_reconfigure(lab, &params);
	if (!error)
		WRITE_ONCE(netdev->mtu, mtu);
	return error;
}

static int niclab_set_mac_address(struct net_device *netdev, void *address)
{
	struct niclab *lab = niclab_of(netdev);
	struct sockaddr *wanted = address;
	u8 before[ETH_ALEN];
	int error;

	if (!is_valid_ether_addr(wanted->sa_data))
		return -EADDRNOTAVAIL;
	ether_addr_copy(before, netdev->dev_addr);
	eth_hw_addr_set(netdev, wanted->sa_data);
	error = niclab_filter_refresh(lab);
	if (error)
		eth_hw_addr_set(netdev, before);
	return error;
}

/*
 * What is asked for is remembered here: netdev->features still says the old when the stack takes
 * its VLANs back.
 */
static int niclab_set_features(struct net_device *netdev, netdev_features_t features)
{
	struct niclab *lab = niclab_of(netdev);
	int strip = !!(features & NETIF_F_HW_VLAN_CTAG_RX);
	bool filter = features & NETIF_F_HW_VLAN_CTAG_FILTER;
	int error = 0;

	if (strip != lab->params.vlan_strip) {
		error = lab->open ? nic_set_vlan_strip(lab->nic, strip) : 0;
		if (error)
			return error;
		lab->params.vlan_strip = strip;
	}
	if (filter != lab->vlan_filter) {
		lab->vlan_filter = filter;
		error = niclab_filter_refresh(lab);
		if (error)
			lab->vlan_filter = !filter;
	}
	return error;
}

static netdev_features_t niclab_features_check(struct sk_buff *skb, struct net_device *netdev,
					       netdev_features_t features)
{
	/* The headers of a large send go into its descriptor. */
	if (skb_is_gso(skb) && skb_tcp_all_headers(skb) > NIC_MAX_HEADER)
		features &= ~NETIF_F_GSO_MASK;
	return vlan_features_check(skb, features);
}

static const struct net_device_ops niclab_netdev_ops = {
	.ndo_open = niclab_open,
	.ndo_stop = niclab_stop,
	.ndo_start_xmit = niclab_start_xmit,
	.ndo_tx_timeout = niclab_tx_timeout,
	.ndo_get_stats64 = niclab_get_stats64,
	.ndo_change_mtu = niclab_change_mtu,
	.ndo_set_mac_address = niclab_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_rx_mode = niclab_set_rx_mode,
	.ndo_vlan_rx_add_vid = niclab_vlan_add,
	.ndo_vlan_rx_kill_vid = niclab_vlan_kill,
	.ndo_set_features = niclab_set_features,
	.ndo_features_check = niclab_features_check,
};

static void params_default(struct niclab *lab)
{
	lab->params = (struct nic_params){
		.channels = lab->max_channels,
		.tx_entries = NICLAB_DEFAULT_RING,
		.rx_entries = NICLAB_DEFAULT_RING,
		.mtu = ETH_DATA_LEN,
		.vlan_strip = 1,
		.rx_map = niclab_rx_map,
	};
	lab->vlan_filter = true;
	netdev_rss_key_fill(lab->params.rss_key, sizeof(lab->params.rss_key));
}

static void netdev_setup(struct niclab *lab)
{
	struct net_device *netdev = lab->netdev;

	SET_NETDEV_DEV(netdev, &lab->plat.pdev->dev);
	netdev->netdev_ops = &niclab_netdev_ops;
	netdev->ethtool_ops = &niclab_ethtool_ops;
	netdev->watchdog_timeo = NICLAB_TX_TIMEOUT;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->max_mtu = lab->info.max_mtu;
	netdev->hw_features = NICLAB_FEATURES;
	netdev->features = NICLAB_FEATURES | NETIF_F_HIGHDMA;
	netdev->vlan_features = NICLAB_TX_FEATURES | NETIF_F_HIGHDMA;
	netdev->priv_flags |= IFF_UNICAST_FLT;
	netif_set_tso_max_size(netdev, lab->info.max_lso_bytes);
	eth_hw_addr_set(netdev, lab->info.mac);
	netif_carrier_off(netdev);
}

static void channels_setup(struct niclab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->max_channels; i++) {
		lab->channels[i].lab = lab;
		lab->channels[i].index = i;
		netif_napi_add(lab->netdev, &lab->channels[i].napi, channel_poll);
	}
}

int niclab_netdev_create(struct niclab *lab)
{
	unsigned int count = min(lab->info.max_channels, lab->plat.vectors - 1);
	int error = -ENOMEM;

	lab->max_channels = count;
	lab->channels = kvcalloc(count, sizeof(*lab->channels), GFP_KERNEL);
	lab->netdev = alloc_etherdev_mqs(sizeof(struct niclab *), count, count);
	if (!lab->channels || !lab->netdev)
		goto free;
	*(struct niclab **)netdev_priv(lab->netdev) = lab;
	params_default(lab);
	netdev_setup(lab);
	channels_setup(lab);
	error = register_netdev(lab->netdev);
	if (error)
		goto free;
	return 0;

free:
	niclab_netdev_destroy(lab);
	return error;
}

void niclab_netdev_unregister(struct niclab *lab)
{
	unregister_netdev(lab->netdev);
}

/* After the last interrupt: it looks at the channels. */
void niclab_netdev_destroy(struct niclab *lab)
{
	if (lab->netdev)
		free_netdev(lab->netdev);
	kvfree(lab->channels);
}
