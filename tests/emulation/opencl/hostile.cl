// Kernels whose work-groups may vary, each beside a twin that looks like it and whose may not, or not so far.
kernel void guarded(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] += 1;
}
kernel void guarded_one_late(global int* x, int n) {
    const int i = get_global_id(0);
    if (i - 1 < n) x[i] += 1;
}
kernel void guarded_without_sign(global int* x, int n) {
    const uint i = get_global_id(0);
    if (i < (uint)n) x[i] += 1;
}
kernel void guarded_in_a_byte(global int* x, int n) {
    const uchar i = get_global_id(0);
    if (i < n) x[i] += 1;
}
kernel void guarded_by_choice(global int* x, int n) {
    int i = get_global_id(0);
    i = i < n ? i : 0;
    if (i < n) x[i] = i;
}
kernel void guarded_in_24_bits(global int* x, int n) {
    const int i = get_global_id(0);
    if (mul24(i, 1 << 20) < n) x[i] += 1;
}
kernel void guarded_too_late(global int* x, int n) {
    const int i = get_global_id(0);
    const int old = x[i];
    if (i < n) x[i] = old + 1;
}
kernel void strides(global int* x, int n) {
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) x[i] = 3 * i;
}
// As PyOpenCL makes them: the compiler extends the total by two shifts.
kernel void strides_by_an_int(global int* x, int n) {
    int item = get_local_id(0), all = get_global_size(0), group = get_local_size(0) * get_group_id(0);
    for (long i = group + item; i < n; i += all) x[i] = 3 * i;
}
kernel void strides_and_tells(global int* x, int n) {
    int turns = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) x[i] = ++turns;
}
kernel void counts_all(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] = get_global_size(0);
}
kernel void counts_groups(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] = get_num_groups(0);
}
kernel void knows_no_offset(global int* x, int n) {
    const int i = get_global_id(0) - get_global_offset(0);
    if (i < n) x[i] = i;
}
kernel void in_a_line(global int* x, int n) {
    const int i = get_global_linear_id();
    if (i < n) x[i] = i;
}
kernel void in_its_group(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n && get_local_id(0) < 7) x[i] = 1;
}
kernel void enqueued(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] = get_enqueued_local_size(0);
}
kernel void adds(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) atomic_add(x, i);
}
kernel void adds_and_looks(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] = atomic_add(x + n, 1);
}
kernel void waits(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i < n) x[i] += get_local_id(0) == 0;
}
kernel void copies_as_a_group(global int* x, int n) {
    local int tile[64];
    event_t copied = async_work_group_copy(tile, x, 16, 0);
    wait_group_events(1, &copied);
    const int i = get_global_id(0);
    if (i < n) x[i] = tile[i % 16];
}
kernel void sums_its_group(global int* x, int n) {
    const int i = get_global_id(0);
    const int sum = work_group_reduce_add(i < n ? x[i] : 0);
    if (i < n) x[i] = sum;
}
kernel void spins(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) {
        atomic_inc(x + n);
        while (*(volatile global int*)(x + n) < n) {}
        x[i] = 1;
    }
}
kernel void fills_a_picture(write_only image2d_t picture, int n) {
    const int i = get_global_id(0);
    if (i < n) write_imagef(picture, (int2)(i, 0), (float4)(1.0f));
}
kernel __attribute__((reqd_work_group_size(16, 1, 1))) void bound(global int* x, int n) {
    const int i = get_global_id(0);
    if (i < n) x[i] = i;
}
