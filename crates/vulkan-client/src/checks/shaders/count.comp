#version 460

// Counts invocations, all together and each by itself. Compile: glslangValidator -V --target-env vulkan1.2 -o count.spv count.comp

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Total { uint total; };
layout(set = 0, binding = 1) buffer Own { uint own[]; };

void main() {
    atomicAdd(total, 1u);
    own[gl_GlobalInvocationID.x] += gl_GlobalInvocationID.x + 1u;
}
