/* Requests of the core with structs that nobody means: wrong sizes and directions, wild and unaligned pointers, pages that cannot be
 * written, any bits in any field. */
#include <sys/mman.h>

#include "judge.h"

/* Numbers of the core whose answers do not depend on the driver, at least by errno. Left out are mode setting, capabilities and the
 * driver's version, which has another number on each driver, and dumb buffers, whose size drivers limit. */
static const uint8_t numbers[] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0b, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x1c, 0x20, 0x26, 0x27,
	0x28, 0x29, 0x2b, 0x2c, 0x2d, 0x2e, 0x30, 0x38, 0x39, 0x3d, 0x3e, 0x3f, 0xb3, 0xb4, 0xbf, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xca,
	0xcb, 0xcc, 0xcd, 0xcf, 0xd1, 0xd2, 0xd3, 0xd4, 0xe0, 0xff,
};

static uint32_t word(void)
{
	static const uint32_t some[] = { 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 8, 64, 4096, 77777, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe };

	return some[any(sizeof(some) / sizeof(some[0]))];
}

/* Requests with arrays, but for transfers. */
static int has_pointers(uint8_t number)
{
	return number == 0xc3 || number == 0xc4 || number == 0xc5 || number == 0xca || number == 0xcb || number == 0xcd;
}

/* Prints what the argument holds afterwards. */
static void answer(uint8_t number, int result, uint8_t *argument, const uint32_t *before)
{
	int fd;

	/* Names, versions and processes are others, and so are places of mappings. */
	if (number <= 1 || number == 0x05 || number == 0x07 || (!result && number == 0xb3))
		return;
	if (!result && (number == 0x2d || number == 0xc1)) {
		/* The number of a descriptor depends on the process. */
		memcpy(&fd, argument + 8, sizeof(fd));
		if (fd != (int)before[2] && fd > 2)
			close(fd);
		return;
	}
	left(argument, before, has_pointers(number) ? 4 : 0);
}

void hostile(void)
{
	static int render = -1;
	int primary = drm;
	static uint8_t *page, *constant;
	uint8_t number = numbers[any(sizeof(numbers))];
	uint32_t sizes[] = { 0, 1, 4, 8, 12, 15, 16, 17, 20, 24, 32, 40, 48, 56, 64, 100, 256, 4096 };
	uint32_t size = sizes[any(18)], direction = any(4), place = any(12);
	uint32_t words[64];
	uint8_t *argument;
	size_t inside = 0;
	int result;

	if (!page) {
		page = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(page + 8192, 4096, PROT_NONE);
		constant = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(constant + 4096, 4096, PROT_NONE);
	}
	for (int i = 0; i < 64; i++)
		words[i] = word();
	/* Which small numbers are descriptors depends on the process. */
	for (int i = 2; i <= 4 && (number == 0x2e || number == 0xc2 || number == 0xcf); i++)
		if (words[i] >= 3 && words[i] <= 64)
			words[i] = 77777;
	/* Waits end at once: their time, the second field of both, has passed long ago. */
	if (number == 0xc3)
		words[3] = any(2) ? 0 : 0xffffffff;
	if (number == 0xca)
		words[5] = any(2) ? 0 : 0xffffffff;
	/* Transfers do not wait for a submission, which takes five seconds. */
	if (number == 0xcc)
		words[6] &= ~2u;
	/* Real pointers sometimes, so that the rest is looked at. What they are depends on the process, so only where one belongs. */
	if (has_pointers(number) && any(2)) {
		uint64_t there = (uintptr_t)page + 4096;
		memcpy(words, &there, 8);
		if (number == 0xca || number == 0xcb || number == 0xcd) {
			there += 512;
			memcpy(words + 2, &there, 8);
		}
		for (int i = 0; i < 256; i++)
			((uint32_t *)(page + 4096))[i] = i < 128 ? handle() : (i & 1 ? 0 : (uint32_t)point());
		/* A count that fits. */
		words[number == 0xc3 ? 4 : number == 0xca ? 6 : number == 0xcb || number == 0xcd ? 4 : 2] = any(5);
	}
	/* A descriptor is told and closed: a program has so many and no more. */
	if (number == 0xc1 || number == 0x2d) {
		direction = 3;
		size = size < 12 ? 12 : size;
		place = place == 4 ? 6 : place;
	}
	switch (place) {
	case 0:
		argument = NULL;
		break;
	case 1:
		argument = (uint8_t *)8;
		break;
	case 2:
		/* Its end is beyond the mapping. */
		inside = size > 4 ? size / 8 * 4 : 0;
		inside = inside < sizeof(words) ? inside : sizeof(words);
		argument = page + 8192 - inside;
		break;
	case 3:
		argument = (uint8_t *)0xffff800000000000u;
		break;
	case 4:
		/* It can be read, and its answer cannot be written. */
		argument = constant + 3072 + any(3) * 8;
		break;
	case 5:
		argument = page + any(8);
		break;
	default:
		argument = page + any(2) * 4;
	}
	mprotect(constant, 4096, PROT_READ | PROT_WRITE);
	if (place >= 4)
		memcpy(argument, words, sizeof(words));
	else if (place == 2)
		memcpy(argument, words, inside);
	mprotect(constant, 4096, PROT_READ);
	printf("number %x size %u direction %u place %u words", number, size, direction, place);
	for (int i = 0; i < 6; i++)
		printf(" %x", number >= 0xc3 && number <= 0xcd && number != 0xcc && i < 4 ? 0 : words[i]);
	putchar(' ');
	/* On the render node some requests are for nobody, and sync objects are its own. */
	if (render < 0)
		render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (!any(6)) {
		printf("render ");
		drm = render;
	}
	result = go("hostile", _IOC(direction, 'd', number, size), argument);
	drm = primary;
	if (place >= 4)
		answer(number, result, argument, words);
	points_now();
	putchar('\n');
}
