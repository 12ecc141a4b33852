#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_image_int64 : require
layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 2u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(set = 0, binding = 3, r64ui) uniform u64image2D U;
layout(set = 0, binding = 4, r64i) uniform i64image2D S;
void main() {
    uint64_t a = packUint2x32(uvec2(A[I], B[I]));
    ivec2 p = ivec2(I & 3u, 0);
    imageAtomicAdd(U, p, a);
    imageAtomicMax(U, p + ivec2(0, 1), a);
    imageAtomicXor(U, p + ivec2(0, 2), a);
    imageAtomicMin(S, p, int64_t(a));
    imageAtomicOr(S, p + ivec2(0, 1), int64_t(a));
    imageAtomicAdd(S, p + ivec2(0, 2), int64_t(a) >> 7);
    imageAtomicExchange(U, ivec2(I & 7u, 4 + (I >> 3 & 3u)), 9ul * (I & 31u) + 1ul);
    put(0, unpackUint2x32(uint64_t(imageLoad(S, ivec2(I & 7u, 6)).x)));
}
