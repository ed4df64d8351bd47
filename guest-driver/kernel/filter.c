// SPDX-License-Identifier: GPL-2.0-or-later
/* Which frames the card lets in: addresses, VLANs, promiscuous. Under RTNL but where marked. */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "kernel/niclab.h"

/* A copy of the addresses of one list, appended to those in `at`. */
static u8 (*copy_addresses(u8 (*at)[ETH_ALEN], const struct netdev_hw_addr_list *list))[ETH_ALEN]
{
	struct netdev_hw_addr *address;

	netdev_hw_addr_list_for_each(address, list)
		ether_addr_copy(*at++, address->addr);
	return at;
}

/*
 * The device's address lists change under a spinlock, the card is told by commands that sleep:
 * work on a copy.
 */
static int addresses_snapshot(struct net_device *netdev, u8 (**addresses)[ETH_ALEN])
{
	u8 (*copy)[ETH_ALEN], (*end)[ETH_ALEN];
	int room, count;

	for (;;) {
		room = READ_ONCE(netdev->uc.count) + READ_ONCE(netdev->mc.count);
		copy = kvcalloc(room + 1, ETH_ALEN, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		netif_addr_lock_bh(netdev);
		count = netdev_uc_count(netdev) + netdev_mc_count(netdev);
		if (count <= room)
			break;
		netif_addr_unlock_bh(netdev);
		kvfree(copy);
	}
	end = copy_addresses(copy_addresses(copy, &netdev->uc), &netdev->mc);
	netif_addr_unlock_bh(netdev);
	*addresses = copy;
	return end - copy;
}

static int vlans_snapshot(struct niclab *lab, u16 **vlans)
{
	unsigned int vid, count = 0;
	u16 *copy = kvcalloc(bitmap_weight(lab->vlans, VLAN_N_VID) + 1, sizeof(*copy), GFP_KERNEL);

	if (!copy)
		return -ENOMEM;
	for_each_set_bit(vid, lab->vlans, VLAN_N_VID)
		copy[count++] = vid;
	*vlans = copy;
	return count;
}

static int filter_apply(struct niclab *lab)
{
	struct net_device *netdev = lab->netdev;
	u8 (*addresses)[ETH_ALEN] = NULL;
	u16 *vlans = NULL;
	int address_count = addresses_snapshot(netdev, &addresses);
	int vlan_count = vlans_snapshot(lab, &vlans);
	struct nic_filter filter = {
		.promiscuous = !!(netdev->flags & IFF_PROMISC),
		.all_multicast = !!(netdev->flags & IFF_ALLMULTI),
		.vlan_filter = lab->vlan_filter && !(netdev->flags & IFF_PROMISC),
		.addresses = (const unsigned char (*)[6])addresses,
		.address_count = address_count,
		.vlans = vlans,
		.vlan_count = vlan_count,
	};
	int error = -ENOMEM;

	ether_addr_copy(filter.mac, netdev->dev_addr);
	if (address_count >= 0 && vlan_count >= 0)
		error = nic_set_filter(lab->nic, &filter);
	kvfree(vlans);
	kvfree(addresses);
	return error;
}

int niclab_filter_refresh(struct niclab *lab)
{
	return lab->open ? filter_apply(lab) : 0;
}

void niclab_filter_work(struct work_struct *work)
{
	struct niclab *lab = container_of(work, struct niclab, filter_work);
	int error;

	rtnl_lock();
	error = niclab_filter_refresh(lab);
	rtnl_unlock();
	if (error)
		netdev_err(lab->netdev, "the receive filter could not be set: error %d\n", error);
}

/* Called under a spinlock. */
void niclab_set_rx_mode(struct net_device *netdev)
{
	struct niclab *lab = niclab_of(netdev);

	niclab_schedule(lab, &lab->filter_work);
}

int niclab_vlan_add(struct net_device *netdev, __be16 protocol, u16 vid)
{
	struct niclab *lab = niclab_of(netdev);
	int error;

	if (test_and_set_bit(vid, lab->vlans))
		return 0;
	error = niclab_filter_refresh(lab);
	if (error)
		clear_bit(vid, lab->vlans);
	return error;
}

int niclab_vlan_kill(struct net_device *netdev, __be16 protocol, u16 vid)
{
	struct niclab *lab = niclab_of(netdev);

	clear_bit(vid, lab->vlans);
	return niclab_filter_refresh(lab);
}
