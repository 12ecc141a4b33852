#version 450
// Vertices with distances of both kinds, viewports with layers, and reads and atomics of texel buffers and images.
#ifdef PLACES
#extension GL_ARB_shader_viewport_layer_array : require
#endif
layout(location=0) in vec4 p; layout(location=1) in vec4 c;
layout(push_constant) uniform P{vec4 off; vec4 k; float ps; float pad[3]; vec4 more[5];} u;
#ifdef SMOOTH
layout(location=0) out vec4 o;
#else
layout(location=0) flat out vec4 o;
#endif
#ifdef DISTANCES
out float gl_ClipDistance[5]; out float gl_CullDistance[3];
#endif
#ifdef TEXELS
layout(binding=5) uniform samplerBuffer reads; layout(binding=6,r32ui) uniform uimageBuffer counts; layout(binding=7,r32ui) uniform uimage2D places;
#endif
void main(){
 vec4 q=p; o=c;
#ifdef DISTANCES
 for(int i=0;i<5;i++) gl_ClipDistance[i]=q.x*cos(float(i))+q.y*sin(float(i))+0.75;
 gl_CullDistance[0]=q.x+0.25; gl_CullDistance[1]=q.y+0.5; gl_CullDistance[2]=0.5-q.x;
#endif
#ifdef PLACES
 gl_Layer=gl_InstanceIndex&1; gl_ViewportIndex=gl_InstanceIndex%3; o.b=float(gl_InstanceIndex)/8.0;
#endif
#ifdef TEXELS
 o=texelFetch(reads,gl_VertexIndex/3); q.xy+=texelFetch(reads,16+gl_VertexIndex/3).xy*0.25;
 imageAtomicOr(counts,gl_VertexIndex>>5,1u<<(gl_VertexIndex&31)); imageAtomicMax(places,ivec2(gl_VertexIndex&3,3),uint(gl_VertexIndex));
#endif
#ifdef PUSHED
 q.x+=u.more[4].w; o=c*0.5+u.more[int(u.k.w)]*0.5;
#endif
 gl_Position=q+u.off; gl_PointSize=u.ps;
}
