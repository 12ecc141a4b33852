#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 16u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(std430, set = 0, binding = 3) buffer B64 { uint64_t q[]; };
shared uint64_t sh[8];
void main() {
    uint64_t a = packUint2x32(uvec2(A[I], B[I])), b = packUint2x32(uvec2(B[I ^ 1u], A[I ^ 5u] >> (I & 31u)));
    int64_t s = int64_t(a), t = int64_t(b);
    put(0, unpackUint2x32(a * b));
    put(2, unpackUint2x32(a / (b | 1ul)));
    put(4, unpackUint2x32(a % (b | 1ul)));
    put(6, unpackUint2x32(uint64_t(s / (t | 1l))));
    put(8, unpackUint2x32(uint64_t(s >> (I & 63u)) ^ (a << (I & 63u))));
    put(10, unpackUint2x32(uint64_t(min(s, t)) + max(a, b)));
    put(12, unpackUint2x32(uint64_t(abs(s)) - uint64_t(sign(t))));
    put(14, uvec2(uint(a < b) | uint(s < t) << 1 | uint(s >= t) << 2, uint(a >> 40)));
    if (gl_LocalInvocationIndex < 8u) sh[gl_LocalInvocationIndex] = gl_LocalInvocationIndex == 3u ? ~0ul : 0ul;
    barrier();
    atomicAdd(sh[0], a);
    atomicXor(sh[1], b);
    atomicMax(sh[2], a);
    atomicMin(sh[3], b);
    atomicOr(sh[4], a & b);
    atomicAdd(sh[5], 0x100000001ul);
    barrier();
    if (gl_LocalInvocationIndex < 6u) q[gl_WorkGroupID.x * 8u + gl_LocalInvocationIndex] = sh[gl_LocalInvocationIndex];
    atomicAdd(q[16], a);
    atomicMax(q[17], b);
    atomicMin(q[18], a);
    atomicXor(q[19], a + b);
    atomicAnd(q[20], a | b);
    atomicCompSwap(q[21 + (I & 1u)], 0ul, 77ul + (I & 1u));
}
