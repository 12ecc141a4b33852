/* Requests about displays with structs that nobody means: wrong sizes and directions, wild and unaligned pointers, any bits in any field
 * but the numbers of objects, which are those of nobody. */
#include <sys/mman.h>

#include "judge.h"

/* All numbers of mode setting, and those of vertical blanks and capabilities. */
static const uint8_t numbers[] = {
	0x0d, 0x3a, 0x3b, 0x3c, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1, 0xb2,
	0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xc6, 0xc7, 0xc8, 0xc9, 0xce, 0xd0,
};

static uint32_t word(void)
{
	static const uint32_t some[] = { 0, 0, 0, 0, 77777, 0x10000, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe };

	return some[any(sizeof(some) / sizeof(some[0]))];
}

void mangled(void)
{
	static uint8_t *page, *constant;
	uint8_t number = numbers[any(sizeof(numbers))];
	uint32_t sizes[] = { 0, 4, 8, 12, 16, 17, 20, 24, 28, 32, 36, 40, 48, 56, 64, 68, 80, 104, 128, 4096 };
	uint32_t size = sizes[any(20)], direction = any(4), place = any(10), words[64];
	uint8_t *argument;
	int result;

	if (!page) {
		page = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(page + 8192, 4096, PROT_NONE);
		constant = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(constant + 4096, 4096, PROT_NONE);
	}
	for (int i = 0; i < 64; i++)
		words[i] = word();
	/* The largest blobs take all the kernel's memory. */
	if (number == 0xbd && words[2] > 77777 && words[2] < 0x80000000)
		words[2] = 77777;
	/* Which capabilities a driver has is its affair, and what a client asked for stays. */
	if (number == 0x0d && !words[1] && words[0] <= 8)
		words[0] = 9;
	/* Sizes of dumb buffers are limited by drivers. */
	if (number == 0xb2)
		words[any(3)] = 0;
	/* Requests for the present moment end at once, all others would wait. */
	if (number == 0x3a)
		words[0] = (words[0] & ~0x04000000u) | 2;
	/* A lease of nothing has a descriptor all the same, which is told and closed: a program has so many and no more. */
	if (number == 0xc6) {
		direction = 3;
		size = size < 24 ? 24 : size;
		place = place == 4 ? 6 : place;
	}
	argument = place == 0 ? NULL : place == 1 ? (uint8_t *)8 : place == 2 ? page + 8192 - (size < 256 ? size / 8 * 4 : 64) :
		   place == 3 ? (uint8_t *)0xffff800000000000u : place == 4 ? constant + 3072 + any(3) * 8 : place == 5 ? page + any(8) : page;
	mprotect(constant, 4096, PROT_READ | PROT_WRITE);
	if (place >= 4)
		memcpy(argument, words, sizeof(words));
	else if (place == 2)
		memcpy(argument, words, (size_t)(page + 8192 - argument));
	mprotect(constant, 4096, PROT_READ);
	printf("number %x size %u direction %u place %u words", number, size, direction, place);
	for (int i = 0; i < 8; i++)
		printf(" %x", words[i]);
	putchar(' ');
	/* What is answered is the driver's, also beside an array that cannot be written; what other failures leave is not. */
	result = go("mangled", _IOC(direction, 'd', number, size), argument);
	if (!result && number == 0xc6)
		close((int)((uint32_t *)argument)[5]);
	if (result && result != EFAULT && place >= 4)
		left(argument, words, 0);
	putchar('\n');
}
