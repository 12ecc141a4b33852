#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 20u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
void main() {
    uint a = A[I], b = B[I], at = b & 31u, len = (b >> 5) % (33u - at);
    put(0, bitfieldExtract(a, int(at), int(len)));
    put(1, bitfieldExtract(int(a), int(at), int(len)));
    put(2, bitfieldInsert(a, b, int(at), int(len)));
    put(3, bitfieldReverse(a));
    put(4, bitCount(a) + 100 * bitCount(int(b)));
    put(5, findLSB(a));
    put(6, findMSB(a));
    put(7, findMSB(int(a)));
    uint carry, borrow, high, low;
    put(8, uaddCarry(a, b, carry));
    put(9, carry);
    put(10, usubBorrow(a, b, borrow));
    put(11, borrow);
    umulExtended(a, b, high, low);
    put(12, high);
    int shigh, slow;
    imulExtended(int(a), int(b), shigh, slow);
    put(13, shigh);
    put(14, slow);
    put(15, (a << at) | (a >> ((32u - at) & 31u)));
    put(16, int(a) >> at);
    put(17, bitfieldInsert(bitfieldInsert(a, 5u, 3, 7), b, 11, 20));
    put(18, (a & ~b) | (b ^ 0x55aa55aau));
    put(19, findLSB(int(a & b)) + findMSB(a ^ b));
}
