#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

layout(local_size_x=16,local_size_y=8,local_size_z=2) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define GROUP (gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z))
#define I (GROUP * 256u + gl_LocalInvocationIndex)
#define K 7u
void put(uint k, uint v) { O[I*K+k] = v; }
shared uint sums[256];
void main() {
    // The waves' sums go through LDS at the place of each wave.
    uint wave = subgroupAdd(A[I]);
    if (subgroupElect()) sums[gl_SubgroupID] = wave;
    barrier();
    uint sum = 0u;
    for (uint i = 0u; i < gl_NumSubgroups; i++) sum += sums[i];
    put(0, sum);
    put(1, gl_NumSubgroups * gl_SubgroupSize);
    put(2, gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID);
    put(3, gl_WorkGroupID.x | gl_WorkGroupID.y << 8 | gl_WorkGroupID.z << 16);
    put(4, gl_LocalInvocationID.x | gl_LocalInvocationID.y << 8 | gl_LocalInvocationID.z << 16);
    put(5, gl_LocalInvocationIndex);
    put(6, gl_GlobalInvocationID.x | gl_GlobalInvocationID.y << 8 | gl_GlobalInvocationID.z << 16);
}
