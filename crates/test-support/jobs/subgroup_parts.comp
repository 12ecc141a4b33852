#version 460
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_clustered : require
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
spirv_instruction(extensions = ["SPV_KHR_subgroup_rotate"], capabilities = [6026], id = 4431)
uint rotate(uint scope, uint value, uint delta, uint size);
void main() {
    uint a = A[I], b = B[I];
    // Results do not depend on the size of the subgroup: all operations stay within eight lanes.
    put(0, subgroupClusteredAdd(a & 0xffffu, 8u));
    put(1, subgroupClusteredMul(a | 1u, 4u));
    put(2, subgroupClusteredMin(int(b), 8u));
    put(3, subgroupClusteredXor(a, 2u));
    put(4, subgroupClusteredMax(FB(I ^ 1u) != FB(I ^ 1u) ? 0.0 : float(b & 1023u), 8u));
    put(5, subgroupShuffleXor(a, 5u));
    put(6, subgroupShuffle(b, (gl_SubgroupInvocationID & ~7u) | (a & 7u)));
    put(7, subgroupQuadBroadcast(a, 2u));
    put(8, subgroupQuadSwapDiagonal(b));
    put(9, rotate(3u, a, 3u, 8u));
    uint64_t wide = packUint2x32(uvec2(a, b));
    put(10, unpackUint2x32(subgroupClusteredAdd(wide, 8u)));
    put(12, unpackUint2x32(subgroupShuffleXor(wide, 6u)));
    put(14, uint(subgroupClusteredMax(uint16_t(a), 4u)));
    put(15, uint(subgroupShuffleXor(uint8_t(b), 1u)));
    uint some = 0u;
    if ((a & 3u) != 1u) {
        some = subgroupClusteredOr(1u << (I & 7u), 8u);
        for (uint i = 0u; i < (b & 3u); i++) some += subgroupClusteredAdd(i + 1u, 4u);
    }
    put(16, some);
    put(17, bitCount(subgroupBallot((a & 1u) != 0u)[gl_SubgroupInvocationID >> 5] >> (gl_SubgroupInvocationID & 24u) & 255u));
    bvec2 flags = subgroupQuadSwapHorizontal(bvec2((a & 1u) != 0u, (b & 1u) != 0u));
    put(18, uint(flags.x) | uint(flags.y) << 1);
    put(19, subgroupClusteredAnd(a | 0xff00u, 8u));
}
