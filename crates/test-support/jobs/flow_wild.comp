#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 4u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
uint walk(uint n) {
    // A walk over a tree with a stack of its own.
    uint stack[16], top = 0u, sum = 0u;
    stack[top++] = n & 255u;
    while (top > 0u) {
        uint node = stack[--top];
        sum = sum * 3u + node;
        if (node < 4u) continue;
        if ((node & 3u) == 3u) {
            stack[top++] = node / 4u;
            if (top > 12u) break;
            stack[top++] = node / 8u;
            continue;
        }
        stack[top++] = node / 2u;
        if ((node & 16u) != 0u && top < 15u) stack[top++] = node / 3u;
    }
    return sum;
}
uint fall(uint a) {
    uint r = a;
    switch (a % 9u) {
    case 0u: r += 1u;
    case 1u: r ^= 0x1111u;
    case 2u: if ((a & 64u) != 0u) break; r *= 3u; break;
    case 5u: r -= 7u;
    default: r = ~r;
    case 7u: r += 100u; return r;
    case 8u: for (uint i = 0u; i < a % 5u; i++) { if (i == 3u) return r + i; r += i * a; }
    }
    return r ^ 0xf0f0u;
}
void main() {
    uint a = A[I], b = B[I], r = 0u;
    for (uint i = 0u; i < 12u; i++) {
        if ((a >> i & 1u) != 0u) continue;
        uint j = 0u;
        do {
            if (((b >> j) & 3u) == 2u) break;
            for (uint k = 0u;; k++) {
                if (k > (a & 7u) || r > 0x7fffffffu) break;
                if (((k + j) & 3u) == 1u) continue;
                r += k * 7u + i;
                if ((r & 63u) == 17u) { j += 2u; break; }
            }
            if ((r & 255u) == 3u) { put(0, r); put(1, i); put(2, walk(r)); put(3, fall(b)); return; }
            j++;
        } while (j < (b & 15u) + 1u);
        if (r % 11u == 5u) break;
    }
    put(0, r);
    put(1, walk(a));
    put(2, fall(a) + fall(b >> 3));
    uint s = b;
    for (uint steps = 0u; steps < 40u; steps++) {
        switch (s & 3u) {
        case 0u: s = s / 2u + 1u; continue;
        case 1u: s = s * 3u + 1u; break;
        default: s ^= 0x55u; s >>= 1; if (s == 0u) break; continue;
        }
        if ((s & 12u) == 4u || s > 0x10000000u) break;
        s >>= 3;
    }
    put(3, s);
}
