#version 450
// Vertices with what v.vert has not: layers, views, distances, numbers of draws, and other types of attributes.
#ifdef LAYER
#extension GL_ARB_shader_viewport_layer_array : require
#endif
#ifdef VIEW
#extension GL_EXT_multiview : require
#endif
#ifdef BASE
#extension GL_ARB_shader_draw_parameters : require
#endif
layout(location=0) in vec4 p;
#ifdef UIN
layout(location=1) in uvec4 c;
#elif defined(SIN)
layout(location=1) in ivec4 c;
#elif defined(DIN)
layout(location=1) in dvec4 c;
#else
layout(location=1) in vec4 c;
#endif
#ifdef DIV
layout(location=3) in vec4 each; layout(location=4) in vec4 shift;
#endif
layout(push_constant) uniform P{vec4 off; vec4 k; float ps;} u;
#ifdef SMOOTH
layout(location=0) out vec4 o;
#elif defined(CENTROID)
layout(location=0) centroid out vec4 o;
#elif defined(SAMPLE)
layout(location=0) sample out vec4 o;
#else
layout(location=0) flat out vec4 o;
#endif
#ifdef DISTANCES
out float gl_ClipDistance[3]; out float gl_CullDistance[2];
#endif
void main(){
 vec4 q=p;
#ifdef UIN
 o=vec4(c)/255.0;
#elif defined(SIN)
 o=vec4(c)/255.0+0.5;
#else
 o=vec4(c);
#endif
#ifdef LAYER
 gl_Layer=gl_InstanceIndex%3; q.x+=float(gl_InstanceIndex)*0.25; o.b=float(gl_InstanceIndex)/8.0;
#endif
#ifdef VIEW
 q.xy+=vec2(gl_ViewIndex)*0.125; o.b=float(gl_ViewIndex)/8.0;
#endif
#ifdef BASE
 o=vec4(float(gl_BaseVertexARB+16)/32.0,float(gl_BaseInstanceARB)/16.0,float(gl_DrawIDARB)/16.0,float(gl_VertexIndex)/32.0); q.x+=float(gl_InstanceIndex)*0.125;
#endif
#ifdef DIV
 q+=shift; o=each;
#endif
#ifdef DISTANCES
 gl_ClipDistance[0]=q.x+0.5; gl_ClipDistance[1]=0.625-q.y; gl_ClipDistance[2]=q.x*0.5-q.y+0.75; gl_CullDistance[0]=q.x; gl_CullDistance[1]=0.75-q.y;
#endif
 gl_Position=q+u.off; gl_PointSize=u.ps;
}
