#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 6u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Node;
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Bytes { uint8_t at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Triples { i16vec3 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Node { uint value; uint next; uint pad[6]; };
layout(push_constant) uniform Push { uint64_t base; } push;
void main() {
    // A list in eight-word nodes: each names the next one by its number.
    uint at = A[I] & 31u, sum = 0u;
    for (uint step = 0u; step < (B[I] & 15u) + 1u; step++) {
        Node node = Node(push.base + uint64_t(at) * 32ul);
        sum = sum * 31u + node.value;
        at = node.next & 31u;
    }
    put(0, sum);
    Bytes bytes = Bytes(push.base + uint64_t(B[I] & 511u));
    put(1, uint(bytes.at[0]) | uint(bytes.at[3]) << 8 | uint(bytes.at[I]) << 16);
    Triples triples = Triples(push.base + 2ul);
    i16vec3 t = triples.at[I & 127u];
    put(2, int(t.x) + int(t.y) * 3 - int(t.z));
    Node own = Node(push.base + 1024ul + uint64_t(I & 7u) * 32ul);
    atomicAdd(own.pad[0], A[I]);
    atomicMax(own.pad[1], B[I]);
    put(3, uint(uint64_t(own) - push.base));
    put(4, uint(I < 8u ? own.value : 0u));
    put(5, uint(Bytes(uint64_t(own)).at[5]));
}
