#version 450
// Pixels with what f.frag has not: places of interpolation, masks and places of samples, layers and views, stencil, other inputs.
#ifdef STENCILREF
#extension GL_ARB_shader_stencil_export : require
#endif
#ifdef QUADS
#extension GL_KHR_shader_subgroup_quad : require
#endif
#ifdef VIEW
#extension GL_EXT_multiview : require
#endif
#if defined(SMOOTH) || defined(ATSAMPLE) || defined(ATCENTROID) || defined(ATOFFSET)
layout(location=0) in vec4 i;
#elif defined(CENTROID)
layout(location=0) centroid in vec4 i;
#elif defined(SAMPLE)
layout(location=0) sample in vec4 i;
#else
layout(location=0) flat in vec4 i;
#endif
layout(push_constant) uniform P{vec4 off; vec4 k; float ps;} u;
#ifdef INPUT
layout(input_attachment_index=0,set=0,binding=3) uniform subpassInput first;
layout(input_attachment_index=1,set=0,binding=4) uniform subpassInput second;
#endif
#ifdef MSFETCH
layout(binding=0) uniform sampler2DMS t;
#endif
layout(location=0) out vec4 o;
void main(){
#ifdef ATSAMPLE
 o=interpolateAtSample(i,3);
#elif defined(ATCENTROID)
 o=interpolateAtCentroid(i);
#elif defined(ATOFFSET)
 o=interpolateAtOffset(i,vec2(0.25,-0.375));
#elif defined(MASKIN)
 o=vec4(float(gl_SampleMaskIn[0])/15.0,0,0,1);
#elif defined(PLACE)
 o=vec4(gl_SamplePosition,float(gl_SampleID)/8.0,1);
#elif defined(LAYER)
 o=vec4(float(gl_Layer)/4.0,float(gl_ViewportIndex)/4.0,i.b,1);
#elif defined(VIEW)
 o=vec4(float(gl_ViewIndex)/4.0,i.gb,1);
#elif defined(STENCILREF)
 gl_FragStencilRefARB=int(gl_FragCoord.x)&7; o=i;
#elif defined(INPUT)
 o=subpassLoad(first).bgra*0.5+vec4(subpassLoad(second).r*0.25);
#elif defined(MSFETCH)
 o=texelFetch(t,ivec2(gl_FragCoord.xy),int(u.k.x));
#elif defined(GRADIENTS)
 vec2 c=gl_FragCoord.xy; float f=c.x*c.x+3.0*c.y*c.y+c.x*c.y; o=vec4(dFdxFine(f),dFdyFine(f),dFdxCoarse(c.x*c.x),dFdyCoarse(c.y*c.y));
#elif defined(QUADS)
 vec2 c=gl_FragCoord.xy; o=vec4(subgroupQuadBroadcast(c.x,2u),subgroupQuadSwapHorizontal(c.x),subgroupQuadSwapVertical(c.y),subgroupQuadSwapDiagonal(c.x*4.0+c.y));
#elif defined(HELPERS)
 float f=gl_HelperInvocation?64.0:0.0; o=vec4(abs(dFdxFine(f))/64.0,abs(dFdyFine(f))/64.0,0,1);
#else
 o=i;
#endif
}
