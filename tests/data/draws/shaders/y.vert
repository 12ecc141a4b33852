#version 450
// Points of several sizes.
layout(location=0) in vec4 p; layout(location=1) in vec4 c;
layout(push_constant) uniform P{vec4 off; vec4 k; float ps;} u;
layout(location=0) flat out vec4 o;
void main(){ gl_Position=p+u.off; gl_PointSize=float(2+2*(gl_VertexIndex%5)); o=c; }
