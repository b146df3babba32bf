// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A module with deliberate faults, one for each kind of check: the negative control of scan_log.sh. A fault is executed
 * when its name is written to the parameter "fault"; which of them the kernel reports depends on its variant.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

MODULE_DESCRIPTION("faults on purpose");
MODULE_LICENSE("Dual BSD/GPL");

static DEFINE_MUTEX(first_lock);
static DEFINE_MUTEX(second_lock);
static DEFINE_SPINLOCK(atomic_lock);
static unsigned long shared_word;
static volatile unsigned int index_past = 16;

static void fault_warn(void)
{
	WARN_ON(index_past);
}

/* Each order alone is fine; lockdep needs no second thread to see that together they deadlock. */
static void fault_lock_order(void)
{
	mutex_lock(&first_lock);
	mutex_lock(&second_lock);
	mutex_unlock(&second_lock);
	mutex_unlock(&first_lock);

	mutex_lock(&second_lock);
	mutex_lock(&first_lock);
	mutex_unlock(&first_lock);
	mutex_unlock(&second_lock);
}

static void fault_sleep(void)
{
	spin_lock(&atomic_lock);
	might_sleep();
	spin_unlock(&atomic_lock);
}

static void fault_out_of_bounds(void)
{
	volatile char *buffer = kzalloc(16, GFP_KERNEL);

	if (!buffer)
		return;
	pr_info("prism_negative: read %d past the end\n", buffer[index_past]);
	kfree((void *)buffer);
}

static void fault_use_after_free(void)
{
	volatile char *buffer = kzalloc(64, GFP_KERNEL);

	if (!buffer)
		return;
	kfree((void *)buffer);
	pr_info("prism_negative: read %d after free\n", buffer[8]);
}

/* Nothing points at it any more. */
static void fault_leak(void)
{
	int i;

	for (i = 0; i < 16; i++)
		if (!kmalloc(512, GFP_KERNEL))
			return;
}

static int increment(void *unused)
{
	while (!kthread_should_stop()) {
		shared_word++;
		cond_resched();
	}
	return 0;
}

static void fault_race(void)
{
	struct task_struct *other = kthread_run(increment, NULL, "prism_race");
	unsigned long end = jiffies + 8 * HZ;

	if (IS_ERR(other))
		return;
	while (time_before(jiffies, end)) {
		shared_word++;
		cond_resched();
	}
	kthread_stop(other);
}

static const struct {
	const char *name;
	void (*run)(void);
} faults[] = {
	{ "warn", fault_warn },
	{ "lock_order", fault_lock_order },
	{ "sleep", fault_sleep },
	{ "out_of_bounds", fault_out_of_bounds },
	{ "use_after_free", fault_use_after_free },
	{ "leak", fault_leak },
	{ "race", fault_race },
};

static int run_fault(const char *name, const struct kernel_param *param)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!sysfs_streq(name, faults[i].name))
			continue;
		faults[i].run();
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops fault_ops = {
	.set = run_fault,
};

module_param_cb(fault, &fault_ops, NULL, 0200);

static int __init prism_negative_init(void)
{
	return 0;
}

static void __exit prism_negative_exit(void)
{
}

module_init(prism_negative_init);
module_exit(prism_negative_exit);
