#version 460

layout(local_size_x=256) in;
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
shared uint keys[4096];
shared uint counts[3072];
shared vec4 rows[256];
void main() {
    uint l = gl_LocalInvocationIndex;
    for (uint i = l; i < 4096u; i += 256u) keys[i] = (A[I] * 2654435761u) ^ (B[(I + i) % 512u] + i);
    for (uint i = l; i < 3072u; i += 256u) counts[i] = 0u;
    rows[l] = vec4(A[I] & 255u, B[I] & 255u, l, 1.0);
    barrier();
    for (uint i = l; i < 4096u; i += 256u) {
        atomicAdd(counts[keys[i] % 1021u], 1u);
        atomicMax(counts[1024u + keys[i] % 509u], keys[i]);
        atomicExchange(counts[2048u + i % 1024u], i % 1024u);
    }
    barrier();
    // Odd and even exchanges of neighbours within runs of 64 keys.
    for (uint round = 0u; round < 64u; round++) {
        uint at = l / 32u * 64u + (l % 32u) * 2u + (round & 1u);
        if (at % 64u != 63u && keys[at] > keys[at + 1u]) {
            uint swapped = keys[at];
            keys[at] = keys[at + 1u];
            keys[at + 1u] = swapped;
        }
        barrier();
    }
    put(0, keys[l * 2u]);
    put(1, counts[l * 12u]);
    put(2, counts[l * 12u + 5u] + counts[2048u + (l * 37u) % 1024u]);
    vec4 sum = rows[l] + rows[(l * 17u + 3u) % 256u] * 2.0 - rows[255u - l];
    put(3, sum.x * 3.0 + sum.y - sum.z + sum.w);
}
