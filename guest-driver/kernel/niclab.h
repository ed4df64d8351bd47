/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the kernel glue share. The glue makes no decision about the card: those are
 * behind core/nic.h.
 */
#ifndef NICLAB_H
#define NICLAB_H

#include <linux/bitmap.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/ratelimit.h>
#include <linux/workqueue.h>

#include "core/nic.h"

#define NICLAB_DRIVER "niclab"
#define NICLAB_VERSION "0.1.0"

#define NICLAB_BAR 0
#define NICLAB_DEFAULT_RING 1024
#define NICLAB_HEALTH_PERIOD (2 * HZ)
#define NICLAB_TX_TIMEOUT (15 * HZ)

/* The platform seam's view of one device. */
struct plat {
	struct pci_dev *pdev;
	void __iomem *bar;
	unsigned int vectors;
	struct ratelimit_state log_limit;
};

static inline struct page *niclab_page(struct plat_page *page)
{
	return (struct page *)page;
}

static inline struct plat_page *niclab_plat_page(struct page *page)
{
	return (struct plat_page *)page;
}

/* One interrupt vector, one NAPI context, a receive and a transmit queue. */
struct niclab_channel {
	struct napi_struct napi;
	struct niclab *lab;
	struct nic_channel *queues; /* valid while lab->open */
	unsigned int index;
	u64 rx_dropped; /* written by NAPI */
	u64 tx_dropped; /* written under the transmit queue's lock */
	struct nic_rx_packet received[NAPI_POLL_WEIGHT];
};

struct niclab_irq {
	struct niclab *lab;
	unsigned int channel;
	char name[IFNAMSIZ + 16];
};

struct niclab {
	struct plat plat;
	struct nic *nic;
	struct nic_info info;
	struct net_device *netdev;
	unsigned int max_channels;
	struct niclab_channel *channels;
	struct niclab_irq *irqs; /* one per vector */

	/* Under RTNL. */
	struct nic_params params; /* those of the next open, and of this one while open */
	bool open;
	bool vlan_filter;
	struct nic_link link;
	DECLARE_BITMAP(vlans, VLAN_N_VID);

	bool leaving; /* no more work is scheduled */
	struct work_struct event_work;
	struct work_struct link_work;
	struct work_struct filter_work;
	struct work_struct recover_work;
	struct delayed_work health_work;
};

static inline struct niclab *niclab_of(const struct net_device *netdev)
{
	return *(struct niclab **)netdev_priv(netdev);
}

/* pci.c */
extern enum nic_rx_map niclab_rx_map;
void niclab_schedule(struct niclab *lab, struct work_struct *work);

/* netdev.c */
int niclab_netdev_create(struct niclab *lab);
void niclab_netdev_unregister(struct niclab *lab);
void niclab_netdev_destroy(struct niclab *lab);
int niclab_reconfigure(struct niclab *lab, const struct nic_params *params);
void niclab_link_work(struct work_struct *work);
void niclab_recover_work(struct work_struct *work);

/* filter.c */
int niclab_filter_refresh(struct niclab *lab);
void niclab_filter_work(struct work_struct *work);
void niclab_set_rx_mode(struct net_device *netdev);
int niclab_vlan_add(struct net_device *netdev, __be16 protocol, u16 vid);
int niclab_vlan_kill(struct net_device *netdev, __be16 protocol, u16 vid);

/* transmit.c */
netdev_tx_t niclab_start_xmit(struct sk_buff *skb, struct net_device *netdev);
bool niclab_tx_poll(struct niclab_channel *channel, int budget);
void niclab_tx_drain(struct niclab_channel *channel);

/* receive.c */
int niclab_rx_poll(struct niclab_channel *channel, int budget);

/* ethtool.c */
extern const struct ethtool_ops niclab_ethtool_ops;

#endif
