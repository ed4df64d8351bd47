// SPDX-License-Identifier: GPL-2.0-or-later
/* The module, and the life of one PCI function: resources, interrupts, deferred work. */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "kernel/niclab.h"

#define NICLAB_CONTROL_VECTOR 0
#define NICLAB_FIRST_CHANNEL_VECTOR 1

static const char *const rx_map_names[] = { [NIC_RX_MAP_FRAGMENT] = "fragment" };
enum nic_rx_map niclab_rx_map = NIC_RX_MAP_FRAGMENT;

static int rx_map_set(const char *value, const struct kernel_param *param)
{
	int found = __sysfs_match_string(rx_map_names, ARRAY_SIZE(rx_map_names), value);

	if (found < 0) {
		pr_err("%s: rx_map is one of: fragment\n", NICLAB_DRIVER);
		return -EINVAL;
	}
	niclab_rx_map = found;
	return 0;
}

static int rx_map_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", rx_map_names[niclab_rx_map]);
}

static const struct kernel_param_ops rx_map_ops = { .set = rx_map_set, .get = rx_map_get };
module_param_cb(rx_map, &rx_map_ops, NULL, 0444);
MODULE_PARM_DESC(rx_map, "how receive memory is mapped: fragment (each fragment when it is posted)");

void niclab_schedule(struct niclab *lab, struct work_struct *work)
{
	if (!READ_ONCE(lab->leaving))
		schedule_work(work);
}

static void work_wanted(void *owner)
{
	struct niclab *lab = owner;

	niclab_schedule(lab, &lab->event_work);
}

static void link_changed(void *owner)
{
	struct niclab *lab = owner;

	niclab_schedule(lab, &lab->link_work);
}

static void channel_failed(void *owner, unsigned int channel)
{
	struct niclab *lab = owner;

	niclab_schedule(lab, &lab->recover_work);
}

static void event_work(struct work_struct *work)
{
	struct niclab *lab = container_of(work, struct niclab, event_work);

	nic_work(lab->nic);
}

/* Without RTNL: it must find a dead card while a command that RTNL protects waits for it. */
static void health_work(struct work_struct *work)
{
	struct niclab *lab = container_of(to_delayed_work(work), struct niclab, health_work);

	if (nic_health(lab->nic)) {
		dev_err(&lab->plat.pdev->dev, "the card is dead; bind the driver again to start over\n");
		niclab_schedule(lab, &lab->link_work);
		return;
	}
	if (!READ_ONCE(lab->leaving))
		schedule_delayed_work(&lab->health_work,
				      round_jiffies_relative(NICLAB_HEALTH_PERIOD));
}

static irqreturn_t control_interrupt(int irq, void *data)
{
	struct niclab_irq *vector = data;
	struct nic *nic = READ_ONCE(vector->lab->nic);

	if (!nic)
		return IRQ_NONE;
	nic_control_interrupt(nic);
	return IRQ_HANDLED;
}

/* The channels exist before any queue that could want polling. */
static irqreturn_t channel_interrupt(int irq, void *data)
{
	struct niclab_irq *vector = data;
	struct niclab *lab = vector->lab;
	struct nic *nic = READ_ONCE(lab->nic);

	if (!nic)
		return IRQ_NONE;
	if (nic_channel_interrupt(nic, vector->channel))
		napi_schedule_irqoff(&lab->channels[vector->channel].napi);
	return IRQ_HANDLED;
}

static void irqs_release(struct niclab *lab, unsigned int count)
{
	while (count-- > 0) {
		int irq = pci_irq_vector(lab->plat.pdev, count);

		irq_set_affinity_and_hint(irq, NULL);
		free_irq(irq, &lab->irqs[count]);
	}
}

static int irq_request(struct niclab *lab, unsigned int vector)
{
	struct pci_dev *pdev = lab->plat.pdev;
	struct niclab_irq *irq = &lab->irqs[vector];
	int number = pci_irq_vector(pdev, vector);
	unsigned int cpu;
	int error;

	irq->lab = lab;
	if (vector == NICLAB_CONTROL_VECTOR) {
		snprintf(irq->name, sizeof(irq->name), NICLAB_DRIVER "-control@%s", pci_name(pdev));
		return request_irq(number, control_interrupt, 0, irq->name, irq);
	}
	irq->channel = vector - NICLAB_FIRST_CHANNEL_VECTOR;
	snprintf(irq->name, sizeof(irq->name), NICLAB_DRIVER "-%u@%s", irq->channel,
		 pci_name(pdev));
	error = request_irq(number, channel_interrupt, 0, irq->name, irq);
	if (error)
		return error;
	cpu = cpumask_local_spread(irq->channel, dev_to_node(&pdev->dev));
	irq_set_affinity_and_hint(number, cpumask_of(cpu));
	return 0;
}

static int irqs_request(struct niclab *lab)
{
	unsigned int vector;
	int error;

	for (vector = 0; vector < lab->plat.vectors; vector++) {
		error = irq_request(lab, vector);
		if (error) {
			irqs_release(lab, vector);
			return error;
		}
	}
	return 0;
}

static int interrupts_create(struct niclab *lab)
{
	unsigned int channels = min_t(unsigned int, num_online_cpus(), NIC_MAX_CHANNELS);
	int error, vectors;

	vectors = pci_alloc_irq_vectors(lab->plat.pdev, NICLAB_FIRST_CHANNEL_VECTOR + 1,
					NICLAB_FIRST_CHANNEL_VECTOR + channels, PCI_IRQ_MSIX);
	if (vectors < 0)
		return vectors;
	lab->plat.vectors = vectors;
	lab->irqs = kcalloc(vectors, sizeof(*lab->irqs), GFP_KERNEL);
	error = lab->irqs ? irqs_request(lab) : -ENOMEM;
	if (error) {
		kfree(lab->irqs);
		pci_free_irq_vectors(lab->plat.pdev);
	}
	return error;
}

static void interrupts_destroy(struct niclab *lab)
{
	irqs_release(lab, lab->plat.vectors);
	kfree(lab->irqs);
	pci_free_irq_vectors(lab->plat.pdev);
}

/* An interrupt may be scheduling work just now: wait for it, so that nothing comes back. */
static void work_stop(struct niclab *lab)
{
	WRITE_ONCE(lab->leaving, true);
	plat_quiesce_interrupts(&lab->plat);
	cancel_delayed_work_sync(&lab->health_work);
	cancel_work_sync(&lab->recover_work);
	cancel_work_sync(&lab->filter_work);
	cancel_work_sync(&lab->link_work);
	cancel_work_sync(&lab->event_work);
}

static int device_enable(struct niclab *lab)
{
	struct pci_dev *pdev = lab->plat.pdev;
	int error = pci_enable_device_mem(pdev);

	if (error)
		return error;
	error = pci_request_mem_regions(pdev, NICLAB_DRIVER);
	if (error)
		goto disable;
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		goto release;
	lab->plat.bar = pci_iomap(pdev, NICLAB_BAR, 0);
	if (!lab->plat.bar) {
		error = -ENOMEM;
		goto release;
	}
	pci_set_master(pdev);
	return 0;

release:
	pci_release_mem_regions(pdev);
disable:
	pci_disable_device(pdev);
	return error;
}

static void device_disable(struct niclab *lab)
{
	pci_clear_master(lab->plat.pdev);
	pci_iounmap(lab->plat.pdev, lab->plat.bar);
	pci_release_mem_regions(lab->plat.pdev);
	pci_disable_device(lab->plat.pdev);
}

static struct niclab *lab_new(struct pci_dev *pdev)
{
	struct niclab *lab = kzalloc(sizeof(*lab), GFP_KERNEL);

	if (!lab)
		return NULL;
	lab->plat.pdev = pdev;
	ratelimit_state_init(&lab->plat.log_limit, DEFAULT_RATELIMIT_INTERVAL,
			     DEFAULT_RATELIMIT_BURST);
	INIT_WORK(&lab->event_work, event_work);
	INIT_WORK(&lab->link_work, niclab_link_work);
	INIT_WORK(&lab->filter_work, niclab_filter_work);
	INIT_WORK(&lab->recover_work, niclab_recover_work);
	INIT_DELAYED_WORK(&lab->health_work, health_work);
	return lab;
}

static int card_create(struct niclab *lab)
{
	const struct nic_events events = {
		.owner = lab,
		.work = work_wanted,
		.link = link_changed,
		.channel_error = channel_failed,
	};
	int error = nic_create(&lab->plat, lab->plat.vectors, &events, &lab->nic);

	if (!error)
		nic_describe(lab->nic, &lab->info);
	return error;
}

static int niclab_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct niclab *lab;
	int error;

	/* An override binds any device; it comes with an id of wildcards when ours do not match. */
	if (id->vendor != PCI_VENDOR_ID_MELLANOX) {
		dev_err(&pdev->dev, "not a card this driver knows\n");
		return -ENODEV;
	}
	lab = lab_new(pdev);
	if (!lab)
		return -ENOMEM;
	error = device_enable(lab);
	if (error)
		goto free;
	error = interrupts_create(lab);
	if (error)
		goto disable;
	pci_set_drvdata(pdev, lab);
	error = card_create(lab);
	if (error)
		goto destroy;
	error = niclab_netdev_create(lab);
	if (error)
		goto destroy;
	schedule_delayed_work(&lab->health_work, NICLAB_HEALTH_PERIOD);
	return 0;

destroy:
	work_stop(lab);
	nic_destroy(&lab->nic);
	interrupts_destroy(lab);
disable:
	device_disable(lab);
free:
	kfree(lab);
	return error;
}

static void niclab_remove(struct pci_dev *pdev)
{
	struct niclab *lab = pci_get_drvdata(pdev);

	niclab_netdev_unregister(lab);
	work_stop(lab);
	nic_destroy(&lab->nic);
	interrupts_destroy(lab);
	niclab_netdev_destroy(lab);
	device_disable(lab);
	kfree(lab);
}

/* The next kernel, or the firmware, must find a card that does no DMA. */
static void niclab_shutdown(struct pci_dev *pdev)
{
	struct niclab *lab = pci_get_drvdata(pdev);

	rtnl_lock();
	netif_device_detach(lab->netdev);
	dev_close(lab->netdev);
	rtnl_unlock();
	work_stop(lab);
	pci_clear_master(pdev);
}

/*
 * Not exported as a device table: the module never loads by itself. The ids match under
 * driver_override only.
 */
static const struct pci_device_id niclab_ids[] = {
	{ PCI_DEVICE_DRIVER_OVERRIDE(PCI_VENDOR_ID_MELLANOX, 0x101d /* ConnectX-6 Dx */,
				     PCI_ID_F_VFIO_DRIVER_OVERRIDE) },
	{}
};

static struct pci_driver niclab_driver = {
	.name = NICLAB_DRIVER,
	.id_table = niclab_ids,
	.probe = niclab_probe,
	.remove = niclab_remove,
	.shutdown = niclab_shutdown,
};
module_pci_driver(niclab_driver);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("niclab");
MODULE_DESCRIPTION("Ethernet driver for ConnectX cards");
MODULE_VERSION(NICLAB_VERSION);
