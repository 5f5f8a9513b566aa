// OpenCL C's functions on images, by the instructions of texture units (PTX ISA, "Texture Instructions", "Surface
// Instructions"). An image's handle is its number, above the bits of the sampler that it is read through.

#define OVERLOAD __attribute__((overloadable))

// device.c; the handles of all image types are pointers there.
#define HANDLE(TYPE)                                                                     \
    ulong OVERLOAD handle_of(read_only TYPE image) __asm__("trimtab_image_handle");      \
    ulong OVERLOAD handle_of(write_only TYPE image) __asm__("trimtab_image_handle");
HANDLE(image1d_t)
HANDLE(image1d_buffer_t)
HANDLE(image1d_array_t)
HANDLE(image2d_t)
HANDLE(image2d_array_t)
HANDLE(image3d_t)
ulong trimtab_sampler_bits(sampler_t sampler);

// Reads without a sampler: the nearest texel, of coordinates in texels.
#define NO_SAMPLER 0x10ul

// Places are (x, y, z, layer).
#define FETCH(NAME, GEOMETRY, PLACE)                                                                              \
    static float4 NAME##_float4(ulong handle, float4 at, int layer) {                                             \
        float4 r;                                                                                                 \
        __asm__("tex." GEOMETRY ".v4.f32.f32 {%0, %1, %2, %3}, [%4, " PLACE "];"                                  \
                : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)                                                      \
                : "l"(handle), "f"(at.x), "f"(at.y), "f"(at.z), "r"(layer));                                      \
        return r;                                                                                                 \
    }                                                                                                             \
    static int4 NAME##_int4(ulong handle, float4 at, int layer) {                                                 \
        int4 r;                                                                                                   \
        __asm__("tex." GEOMETRY ".v4.s32.f32 {%0, %1, %2, %3}, [%4, " PLACE "];"                                  \
                : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)                                                      \
                : "l"(handle), "f"(at.x), "f"(at.y), "f"(at.z), "r"(layer));                                      \
        return r;                                                                                                 \
    }                                                                                                             \
    static uint4 NAME##_uint4(ulong handle, float4 at, int layer) {                                               \
        uint4 r;                                                                                                  \
        __asm__("tex." GEOMETRY ".v4.u32.f32 {%0, %1, %2, %3}, [%4, " PLACE "];"                                  \
                : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)                                                      \
                : "l"(handle), "f"(at.x), "f"(at.y), "f"(at.z), "r"(layer));                                      \
        return r;                                                                                                 \
    }
FETCH(fetch_1d, "1d", "{%5}")
FETCH(fetch_1d_array, "a1d", "{%8, %5}")
FETCH(fetch_2d, "2d", "{%5, %6}")
FETCH(fetch_2d_array, "a2d", "{%8, %5, %6, %6}")
FETCH(fetch_3d, "3d", "{%5, %6, %7, %7}")

// Whole coordinates are those of texels' centres, which lie halfway.
static float4 OVERLOAD centre(int x) { return (float4)(convert_float(x) + 0.5f, 0, 0, 0); }
static float4 OVERLOAD centre(int2 p) { return (float4)(convert_float2(p) + 0.5f, 0, 0); }
static float4 OVERLOAD centre(int4 p) { return convert_float4(p) + 0.5f; }
static float4 OVERLOAD place(float x) { return (float4)(x, 0, 0, 0); }
static float4 OVERLOAD place(float2 p) { return (float4)(p, 0, 0); }
static float4 OVERLOAD place(float4 p) { return p; }
// The unit takes layers beyond the last one for that.
static int OVERLOAD layer_of(int layer) { return max(layer, 0); }
static int OVERLOAD layer_of(float layer) { return max(convert_int_rte(layer), 0); }

#define READ(SUFFIX, RESULT, TYPE, FLOATS, INTS, FETCHED, FLOAT_PLACE, FLOAT_LAYER, INT_PLACE, INT_LAYER)         \
    RESULT OVERLOAD read_image##SUFFIX(read_only TYPE image, sampler_t sampler, FLOATS at) {                      \
        return FETCHED##_##RESULT(handle_of(image) | trimtab_sampler_bits(sampler), FLOAT_PLACE, FLOAT_LAYER);    \
    }                                                                                                             \
    RESULT OVERLOAD read_image##SUFFIX(read_only TYPE image, sampler_t sampler, INTS at) {                        \
        return FETCHED##_##RESULT(handle_of(image) | trimtab_sampler_bits(sampler), INT_PLACE, INT_LAYER);        \
    }                                                                                                             \
    RESULT OVERLOAD read_image##SUFFIX(read_only TYPE image, INTS at) {                                           \
        return FETCHED##_##RESULT(handle_of(image) | NO_SAMPLER, INT_PLACE, INT_LAYER);                           \
    }
#define READS(...)               \
    READ(f, float4, __VA_ARGS__) \
    READ(i, int4, __VA_ARGS__)   \
    READ(ui, uint4, __VA_ARGS__)
READS(image1d_t, float, int, fetch_1d, place(at), 0, centre(at), 0)
READS(image2d_t, float2, int2, fetch_2d, place(at), 0, centre(at), 0)
READS(image3d_t, float4, int4, fetch_3d, place(at), 0, centre(at), 0)
READS(image1d_array_t, float2, int2, fetch_1d_array, place(at.x), layer_of(at.y), centre(at.x), layer_of(at.y))
READS(image2d_array_t, float4, int4, fetch_2d_array, place(at), layer_of(at.z), centre(at), layer_of(at.z))

// Wider than a coordinate's significand: whole ones.
#define READ_BUFFER(SUFFIX, RESULT, TYPE, CONSTRAINT)                                       \
    RESULT OVERLOAD read_image##SUFFIX(read_only image1d_buffer_t image, int at) {          \
        RESULT r;                                                                           \
        __asm__("tex.1d.v4." TYPE ".s32 {%0, %1, %2, %3}, [%4, {%5}];"                      \
                : CONSTRAINT(r.x), CONSTRAINT(r.y), CONSTRAINT(r.z), CONSTRAINT(r.w)        \
                : "l"(handle_of(image) | NO_SAMPLER), "r"(at));                             \
        return r;                                                                           \
    }
READ_BUFFER(f, float4, "f32", "=f")
READ_BUFFER(i, int4, "s32", "=r")
READ_BUFFER(ui, uint4, "u32", "=r")

// Questions.
#define QUESTION(NAME, WORD)                                                              \
    static int NAME##_read(ulong handle) {                                                \
        int r;                                                                            \
        __asm__("txq." WORD ".b32 %0, [%1];" : "=r"(r) : "l"(handle));                    \
        return r;                                                                         \
    }                                                                                     \
    static int NAME##_written(ulong handle) {                                             \
        int r;                                                                            \
        __asm__("suq." WORD ".b32 %0, [%1];" : "=r"(r) : "l"(handle));                    \
        return r;                                                                         \
    }
QUESTION(width, "width")
QUESTION(height, "height")
QUESTION(depth, "depth")
QUESTION(layers, "array_size")
QUESTION(channel_type, "channel_data_type")
QUESTION(channel_order, "channel_order")

#define ANSWER(RESULT, NAME, TYPE, EXPRESSION)                                            \
    RESULT OVERLOAD NAME(read_only TYPE image) {                                          \
        const ulong handle = handle_of(image);                                            \
        return EXPRESSION(read);                                                          \
    }                                                                                     \
    RESULT OVERLOAD NAME(write_only TYPE image) {                                         \
        const ulong handle = handle_of(image);                                            \
        return EXPRESSION(written);                                                       \
    }
#define WIDTH(HOW) width_##HOW(handle)
#define HEIGHT(HOW) height_##HOW(handle)
#define DEPTH(HOW) depth_##HOW(handle)
#define LAYERS(HOW) (size_t) layers_##HOW(handle)
#define CHANNEL_TYPE(HOW) channel_type_##HOW(handle)
#define CHANNEL_ORDER(HOW) channel_order_##HOW(handle)
#define PLANE(HOW) (int2)(width_##HOW(handle), height_##HOW(handle))
#define VOLUME(HOW) (int4)(width_##HOW(handle), height_##HOW(handle), depth_##HOW(handle), 0)
#define ANSWERS(TYPE)                                               \
    ANSWER(int, get_image_width, TYPE, WIDTH)                       \
    ANSWER(int, get_image_channel_data_type, TYPE, CHANNEL_TYPE)    \
    ANSWER(int, get_image_channel_order, TYPE, CHANNEL_ORDER)
ANSWERS(image1d_t)
ANSWERS(image1d_buffer_t)
ANSWERS(image1d_array_t)
ANSWERS(image2d_t)
ANSWERS(image2d_array_t)
ANSWERS(image3d_t)
ANSWER(int, get_image_height, image2d_t, HEIGHT)
ANSWER(int, get_image_height, image2d_array_t, HEIGHT)
ANSWER(int, get_image_height, image3d_t, HEIGHT)
ANSWER(int, get_image_depth, image3d_t, DEPTH)
ANSWER(int2, get_image_dim, image2d_t, PLANE)
ANSWER(int2, get_image_dim, image2d_array_t, PLANE)
ANSWER(int4, get_image_dim, image3d_t, VOLUME)
ANSWER(size_t, get_image_array_size, image1d_array_t, LAYERS)
ANSWER(size_t, get_image_array_size, image2d_array_t, LAYERS)

// Stores of 1, 2 or 4 channels of 1, 2 or 4 bytes each; what lies outside is left alone.
#define STORE_OF(GEOMETRY, PLACE, BITS, CONSTRAINT, CAST)                                                         \
    if (channels == 4)                                                                                            \
        __asm__ volatile("sust.b." GEOMETRY ".v4.b" BITS ".zero [%0, " PLACE "], {%5, %6, %7, %8};" ::"l"(handle), \
                         "r"(x), "r"(at.y), "r"(at.z), "r"(at.w), CONSTRAINT((CAST)v.x), CONSTRAINT((CAST)v.y),   \
                         CONSTRAINT((CAST)v.z), CONSTRAINT((CAST)v.w)                                             \
                         : "memory");                                                                             \
    else if (channels == 2)                                                                                       \
        __asm__ volatile("sust.b." GEOMETRY ".v2.b" BITS ".zero [%0, " PLACE "], {%5, %6};" ::"l"(handle),        \
                         "r"(x), "r"(at.y), "r"(at.z), "r"(at.w), CONSTRAINT((CAST)v.x), CONSTRAINT((CAST)v.y)    \
                         : "memory");                                                                             \
    else                                                                                                          \
        __asm__ volatile("sust.b." GEOMETRY ".b" BITS ".zero [%0, " PLACE "], {%5};" ::"l"(handle), "r"(x),       \
                         "r"(at.y), "r"(at.z), "r"(at.w), CONSTRAINT((CAST)v.x)                                   \
                         : "memory");
#define STORE(NAME, GEOMETRY, PLACE)                                                                              \
    static void NAME(ulong handle, int4 at, uint4 v, int channels, int bytes) {                                   \
        const int x = at.x * channels * bytes;                                                                    \
        if (bytes == 1) {                                                                                         \
            STORE_OF(GEOMETRY, PLACE, "8", "h", ushort)                                                           \
        } else if (bytes == 2) {                                                                                  \
            STORE_OF(GEOMETRY, PLACE, "16", "h", ushort)                                                          \
        } else {                                                                                                  \
            STORE_OF(GEOMETRY, PLACE, "32", "r", uint)                                                            \
        }                                                                                                         \
    }
STORE(store_1d, "1d", "{%1}")
STORE(store_1d_array, "a1d", "{%4, %1}")
STORE(store_2d, "2d", "{%1, %2}")
STORE(store_2d_array, "a2d", "{%4, %1, %2, %2}")
STORE(store_3d, "3d", "{%1, %2, %3, %3}")

static int channels_of(int order) {
    switch (order) {
        case CLK_R:
        case CLK_A:
        case CLK_INTENSITY:
        case CLK_LUMINANCE:
            return 1;
        case CLK_RG:
        case CLK_RA:
            return 2;
        default:
            return 4;
    }
}

static int bytes_of(int type) {
    switch (type) {
        case CLK_SNORM_INT8:
        case CLK_UNORM_INT8:
        case CLK_SIGNED_INT8:
        case CLK_UNSIGNED_INT8:
            return 1;
        case CLK_SIGNED_INT32:
        case CLK_UNSIGNED_INT32:
        case CLK_FLOAT:
            return 4;
        default:
            return 2;
    }
}

// From red, green, blue, alpha to the order in memory.
static uint4 in_order(uint4 v, int order) {
    switch (order) {
        case CLK_A:
            return v.wwww;
        case CLK_RA:
            return v.xwww;
        case CLK_BGRA:
            return v.zyxw;
        case CLK_ARGB:
            return v.wxyz;
        default:
            return v;
    }
}

static uint half_of(float x) {
    ushort bits;
    __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

static uint4 OVERLOAD as_channels(float4 v, int type) {
    switch (type) {
        case CLK_UNORM_INT8:
            return convert_uint4(convert_uchar4_sat_rte(v * 255.0f));
        case CLK_UNORM_INT16:
            return convert_uint4(convert_ushort4_sat_rte(v * 65535.0f));
        case CLK_SNORM_INT8:
            return as_uint4(convert_int4(convert_char4_sat_rte(v * 127.0f)));
        case CLK_SNORM_INT16:
            return as_uint4(convert_int4(convert_short4_sat_rte(v * 32767.0f)));
        case CLK_HALF_FLOAT:
            return (uint4)(half_of(v.x), half_of(v.y), half_of(v.z), half_of(v.w));
        default:
            return as_uint4(v);
    }
}

static uint4 OVERLOAD as_channels(int4 v, int type) {
    switch (type) {
        case CLK_SIGNED_INT8:
            return as_uint4(convert_int4(convert_char4_sat(v)));
        case CLK_SIGNED_INT16:
            return as_uint4(convert_int4(convert_short4_sat(v)));
        default:
            return as_uint4(v);
    }
}

static uint4 OVERLOAD as_channels(uint4 v, int type) {
    switch (type) {
        case CLK_UNSIGNED_INT8:
            return convert_uint4(convert_uchar4_sat(v));
        case CLK_UNSIGNED_INT16:
            return convert_uint4(convert_ushort4_sat(v));
        default:
            return v;
    }
}

#define WRITE(SUFFIX, COLOR, TYPE, COORDINATE, STORED, PLACE)                                                      \
    void OVERLOAD write_image##SUFFIX(write_only TYPE image, COORDINATE at, COLOR color) {                        \
        const ulong handle = handle_of(image);                                                                    \
        const int type = channel_type_written(handle), order = channel_order_written(handle);                     \
        STORED(handle, PLACE, in_order(as_channels(color, type), order), channels_of(order), bytes_of(type));     \
    }
#define WRITES(...)               \
    WRITE(f, float4, __VA_ARGS__) \
    WRITE(i, int4, __VA_ARGS__)   \
    WRITE(ui, uint4, __VA_ARGS__)
WRITES(image1d_t, int, store_1d, (int4)(at, 0, 0, 0))
WRITES(image1d_buffer_t, int, store_1d, (int4)(at, 0, 0, 0))
WRITES(image1d_array_t, int2, store_1d_array, (int4)(at.x, 0, 0, at.y))
WRITES(image2d_t, int2, store_2d, (int4)(at, 0, 0))
WRITES(image2d_array_t, int4, store_2d_array, (int4)(at.x, at.y, 0, at.z))
WRITES(image3d_t, int4, store_3d, (int4)(at.x, at.y, at.z, 0))
