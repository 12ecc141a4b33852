#version 450
// Sums of words from all over a buffer: little arithmetic, many loads. Compiled by `glslangValidator -V gather.comp -o gather.spv`.

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Source { uint words[]; };
layout(std430, binding = 1) writeonly buffer Sums { uint sums[]; };

const uint WORDS = 1u << 20;
const uint LOADS = 16u;

void main() {
    uint place = gl_GlobalInvocationID.x;
    uint sum = 0u;
    for (uint load = 0u; load < LOADS; load++) {
        sum += words[(place + load * 66049u) & (WORDS - 1u)];
    }
    sums[place] = sum;
}
