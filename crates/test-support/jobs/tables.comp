#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 14u
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, uvec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
// Lists of values of consecutive numbers.
#define R4(V,i) V((i)), V((i)+1u), V((i)+2u), V((i)+3u)
#define R16(V,i) R4(V,(i)), R4(V,(i)+4u), R4(V,(i)+8u), R4(V,(i)+12u)
#define R64(V,i) R16(V,(i)), R16(V,(i)+16u), R16(V,(i)+32u), R16(V,(i)+48u)
#define R256(V,i) R64(V,(i)), R64(V,(i)+64u), R64(V,(i)+128u), R64(V,(i)+192u)
#define R1024(V,i) R256(V,(i)), R256(V,(i)+256u), R256(V,(i)+512u), R256(V,(i)+768u)
#define WORD(i) ((i)*2654435761u ^ 0x5bd1e995u)
#define PAIR(i) uvec2(WORD(i), WORD((i)+7777u))
#define QUAD(i) uvec4(WORD(i), WORD((i)+1111u), WORD((i)+2222u), WORD((i)+3333u))
// Tables that a compiler puts behind the code: a little larger than 32 bytes, of the sizes of the grids of quantised models, and
// larger than any stride of a buffer descriptor (16 KiB).
const uint little[9] = uint[](R4(WORD,0u), R4(WORD,4u), WORD(8u));
const uint grid[256] = uint[](R256(WORD,9u));
const uvec2 pairs[1024] = uvec2[](R1024(PAIR,5u));
const uvec4 quads[64] = uvec4[](R64(QUAD,3u));
const uint large[5120] = uint[](
    R1024(WORD,0u), R1024(WORD,1024u), R1024(WORD,2048u), R1024(WORD,3072u), R1024(WORD,4096u));
void main() {
    put(0, little[A[I] % 9u]);
    put(1, grid[A[I] & 255u]);
    put(2, pairs[A[I] & 1023u]);
    put(4, quads[A[I] & 63u]);
    put(8, large[A[I] % 5120u]);
    // Indices that rise with the lane, that are equal in all lanes, and that a loop makes.
    put(9, grid[gl_LocalInvocationID.x * 3u]);
    put(10, grid[B[0] & 255u]);
    uint at = A[I] & 255u, sum = 0u;
    for (uint i = 0u; i < (B[I] & 15u); i++) {
        sum += grid[at];
        at = sum >> 24;
    }
    put(11, sum);
    // Parts of rows by a row and a column that differ.
    put(12, quads[A[I] & 63u][B[I] & 3u]);
    put(13, pairs[B[I] & 1023u][A[I] & 1u]);
}
