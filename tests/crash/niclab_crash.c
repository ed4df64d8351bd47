// SPDX-License-Identifier: GPL-2.0-or-later
/* Does wrong on request: write "warn", "words" or "oops" to /sys/kernel/debug/niclab_crash. */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static struct dentry *file;
static int *nowhere;

static noinline void niclab_crash_warn(void)
{
	WARN_ON(!nowhere); /* the line of warn */
}

static noinline void niclab_crash_words(void)
{
	WARN(!nowhere, "niclab_crash: in so many words\n");
}

static noinline void niclab_crash_oops(void)
{
	WRITE_ONCE(*nowhere, 1); /* the line of oops */
}

static ssize_t niclab_crash_write(struct file *from, const char __user *text, size_t length, loff_t *at)
{
	char word[16] = "";

	if (length >= sizeof(word) || copy_from_user(word, text, length))
		return -EINVAL;
	if (sysfs_streq(word, "warn"))
		niclab_crash_warn();
	else if (sysfs_streq(word, "words"))
		niclab_crash_words();
	else if (sysfs_streq(word, "oops"))
		niclab_crash_oops();
	else
		return -EINVAL;
	return length;
}

static const struct file_operations niclab_crash_operations = {
	.owner = THIS_MODULE,
	.write = niclab_crash_write,
};

static int __init niclab_crash_init(void)
{
	file = debugfs_create_file("niclab_crash", 0200, NULL, NULL, &niclab_crash_operations);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit niclab_crash_exit(void)
{
	debugfs_remove(file);
}

module_init(niclab_crash_init);
module_exit(niclab_crash_exit);
MODULE_DESCRIPTION("Does wrong on request");
MODULE_LICENSE("GPL");
