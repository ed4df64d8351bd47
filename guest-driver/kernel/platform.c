// SPDX-License-Identifier: GPL-2.0-or-later
/* The platform seam on Linux: each function of core/platform.h, and nothing else. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#include "kernel/niclab.h"

void *plat_alloc(unsigned long bytes)
{
	return kvzalloc(bytes, GFP_KERNEL);
}

void plat_free(void *memory)
{
	kvfree(memory);
}

int plat_dma_alloc(struct plat *plat, unsigned long bytes, struct plat_dma *out)
{
	dma_addr_t bus;
	void *cpu = dma_alloc_coherent(&plat->pdev->dev, bytes, &bus, GFP_KERNEL);

	if (!cpu)
		return -ENOMEM;
	out->cpu = cpu;
	out->bus = bus;
	out->bytes = bytes;
	return 0;
}

void plat_dma_free(struct plat *plat, struct plat_dma *memory)
{
	dma_free_coherent(&plat->pdev->dev, memory->bytes, memory->cpu, memory->bus);
}

struct plat_page *plat_page_alloc(struct plat *plat, unsigned int order, int can_sleep)
{
	gfp_t how = (can_sleep ? GFP_KERNEL : GFP_ATOMIC) | __GFP_COMP | __GFP_NOWARN;

	return niclab_plat_page(alloc_pages_node(dev_to_node(&plat->pdev->dev), how, order));
}

void plat_page_ref(struct plat_page *page)
{
	get_page(niclab_page(page));
}

void plat_page_unref(struct plat_page *page)
{
	put_page(niclab_page(page));
}

void *plat_page_address(struct plat_page *page)
{
	return page_address(niclab_page(page));
}

static enum dma_data_direction direction_of(enum plat_direction direction)
{
	switch (direction) {
	case PLAT_TO_DEVICE:
		return DMA_TO_DEVICE;
	case PLAT_FROM_DEVICE:
		return DMA_FROM_DEVICE;
	default:
		return DMA_BIDIRECTIONAL;
	}
}

int plat_map(struct plat *plat, struct plat_page *page, unsigned int offset, unsigned int bytes,
	     enum plat_direction direction, unsigned long long *bus)
{
	dma_addr_t address = dma_map_page(&plat->pdev->dev, niclab_page(page), offset, bytes,
					  direction_of(direction));

	if (dma_mapping_error(&plat->pdev->dev, address))
		return -ENOMEM;
	*bus = address;
	return 0;
}

void plat_unmap(struct plat *plat, unsigned long long bus, unsigned int bytes,
		enum plat_direction direction)
{
	dma_unmap_page(&plat->pdev->dev, bus, bytes, direction_of(direction));
}

void plat_sync_for_cpu(struct plat *plat, unsigned long long bus, unsigned int bytes,
		       enum plat_direction direction)
{
	dma_sync_single_for_cpu(&plat->pdev->dev, bus, bytes, direction_of(direction));
}

void plat_sync_for_device(struct plat *plat, unsigned long long bus, unsigned int bytes,
			  enum plat_direction direction)
{
	dma_sync_single_for_device(&plat->pdev->dev, bus, bytes, direction_of(direction));
}

unsigned int plat_bar_bytes(struct plat *plat)
{
	return min_t(resource_size_t, pci_resource_len(plat->pdev, NICLAB_BAR), UINT_MAX);
}

unsigned int plat_read32(struct plat *plat, unsigned int offset)
{
	return ioread32be(plat->bar + offset);
}

void plat_write32(struct plat *plat, unsigned int offset, unsigned int value)
{
	iowrite32be(value, plat->bar + offset);
}

void plat_ring(struct plat *plat, unsigned int offset, const void *bytes)
{
	__raw_writeq(*(const u64 *)bytes, plat->bar + offset);
}

void plat_stop_dma(struct plat *plat)
{
	pci_clear_master(plat->pdev);
}

void plat_quiesce_interrupts(struct plat *plat)
{
	unsigned int vector;

	for (vector = 0; vector < plat->vectors; vector++)
		synchronize_irq(pci_irq_vector(plat->pdev, vector));
}

/* The users of the barriers name their pairs. */
void plat_publish(void)
{
	dma_wmb();
}

void plat_acquire(void)
{
	dma_rmb();
}

void plat_before_ring(void)
{
	wmb(); /* orders stores to memory before an uncached one, which dma_wmb() does not */
}

unsigned long long plat_now_ms(struct plat *plat)
{
	return ktime_to_ms(ktime_get());
}

void plat_sleep_ms(unsigned int ms)
{
	fsleep(1000UL * ms);
}

struct plat_mutex {
	struct mutex mutex; /* protects what the core says it does */
};

struct plat_mutex *plat_mutex_new(void)
{
	struct plat_mutex *lock = kzalloc(sizeof(*lock), GFP_KERNEL);

	if (lock)
		mutex_init(&lock->mutex);
	return lock;
}

void plat_mutex_free(struct plat_mutex *lock)
{
	mutex_destroy(&lock->mutex);
	kfree(lock);
}

void plat_mutex_lock(struct plat_mutex *lock)
{
	mutex_lock(&lock->mutex);
}

void plat_mutex_unlock(struct plat_mutex *lock)
{
	mutex_unlock(&lock->mutex);
}

struct plat_event {
	struct completion signals;
};

struct plat_event *plat_event_new(void)
{
	struct plat_event *event = kzalloc(sizeof(*event), GFP_KERNEL);

	if (event)
		init_completion(&event->signals);
	return event;
}

void plat_event_free(struct plat_event *event)
{
	kfree(event);
}

void plat_event_signal(struct plat_event *event)
{
	complete(&event->signals);
}

int plat_event_wait(struct plat_event *event, unsigned int ms)
{
	return wait_for_completion_timeout(&event->signals, msecs_to_jiffies(ms)) ? 0 : -ETIMEDOUT;
}

void plat_log(struct plat *plat, enum plat_level level, const char *format, ...)
{
	struct device *dev = &plat->pdev->dev;
	struct va_format text = { .fmt = format };
	va_list arguments;

	if (level != PLAT_DEBUG && !__ratelimit(&plat->log_limit))
		return;
	va_start(arguments, format);
	text.va = &arguments;
	switch (level) {
	case PLAT_ERROR:
		dev_err(dev, "%pV\n", &text);
		break;
	case PLAT_WARN:
		dev_warn(dev, "%pV\n", &text);
		break;
	case PLAT_INFO:
		dev_info(dev, "%pV\n", &text);
		break;
	case PLAT_DEBUG:
		dev_dbg(dev, "%pV\n", &text);
		break;
	}
	va_end(arguments);
}
