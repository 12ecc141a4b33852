/* Command streams. A radeon_cmdbuf is the head of an agw_stream. */

#include "radv_agw.h"

#include <stdlib.h>

#include "ac_debug.h"
#include "radv_debug.h"

/* Dwords that RADV's own winsys begins with too. */
#define FIRST_DWORDS (20 * 1024)

static enum radeon_bo_domain
radv_agw_cs_domain(const struct radeon_winsys *rws)
{
   const struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   uint64_t visible = 0;
   agw_device_query(ws->device, AGW_QUERY_OWN_VISIBLE_VRAM, &visible);

   /* Commands go to VRAM where half of what the CPU reaches is free, over a bus of 8 lanes of PCIe 3 at least. */
   const bool has_room = ws->info.all_vram_visible || visible * 2 <= (uint64_t)ws->info.vram_vis_size_kb * 1024;
   const bool is_near = !ws->info.has_pcie_bandwidth_info || ws->info.pcie_bandwidth_mbps >= 8 * 0.985 * 1024;
   const bool may = !(ws->perftest & RADV_PERFTEST_NO_SAM) && ws->info.has_dedicated_vram;
   const bool must = ws->perftest & RADV_PERFTEST_SAM;
   return must || (may && has_room && is_near) ? RADEON_DOMAIN_VRAM : RADEON_DOMAIN_GTT;
}

static struct radeon_cmdbuf *
radv_agw_cs_create(struct radeon_winsys *rws, enum amd_ip_type ip, bool is_secondary)
{
   struct radv_agw_winsys *ws = radv_agw_winsys(rws);
   uint32_t flags = is_secondary ? AGW_STREAM_SECONDARY : 0;
   if (!ws->chains)
      flags |= AGW_STREAM_UNCHAINED;
   /* Nothing flushes what the CPU wrote to VRAM before a user queue of the copy engine. */
   if (ip == AMD_IP_SDMA && ws->user_queues & BITFIELD_BIT(ip))
      flags |= AGW_STREAM_IN_SYSTEM_MEMORY;
   struct agw_stream *stream;
   if (agw_stream_create(ws->device, ip, flags, FIRST_DWORDS, &stream) != AGW_SUCCESS)
      return NULL;
   agw_stream_head(stream)->user = ws;
   STATIC_ASSERT(sizeof(struct agw_cmd_window) == sizeof(struct radeon_cmdbuf));
   STATIC_ASSERT(offsetof(struct agw_cmd_window, buf) == offsetof(struct radeon_cmdbuf, buf));
   return (struct radeon_cmdbuf *)agw_stream_window(stream);
}

static void
radv_agw_cs_destroy(struct radeon_cmdbuf *cs)
{
   agw_stream_destroy(radv_agw_stream(cs));
}

static void
radv_agw_cs_reset(struct radeon_cmdbuf *cs)
{
   /* An error comes back from finalizing. */
   agw_stream_reset(radv_agw_stream(cs));
}

static bool
radv_agw_cs_chain(struct radeon_cmdbuf *cs, struct radeon_cmdbuf *next, bool pre_ena)
{
   struct agw_stream *stream = radv_agw_stream(cs), *behind = radv_agw_stream(next);
   return pre_ena ? agw_stream_chain_replayed(stream, behind) : agw_stream_chain(stream, behind);
}

static void
radv_agw_cs_unchain(struct radeon_cmdbuf *cs)
{
   if (unlikely(agw_stream_head(radv_agw_stream(cs))->is_chained))
      agw_stream_unchain(radv_agw_stream(cs));
}

static VkResult
radv_agw_cs_finalize(struct radeon_cmdbuf *cs)
{
   return radv_agw_result(agw_stream_finalize(radv_agw_stream(cs)));
}

static void
radv_agw_cs_grow(struct radeon_cmdbuf *cs, size_t dwords)
{
   agw_stream_grow(radv_agw_stream(cs), dwords);
}

static void
radv_agw_cs_add_buffer(struct radeon_cmdbuf *cs, struct radeon_winsys_bo *rbo)
{
   struct radv_agw_bo *bo = radv_agw_bo(rbo);
   if (bo->sparse)
      agw_stream_add_sparse(radv_agw_stream(cs), bo->sparse);
   else
      agw_stream_add_bo(radv_agw_stream(cs), bo->bo);
}

static void
radv_agw_cs_execute_secondary(struct radeon_cmdbuf *parent, struct radeon_cmdbuf *child, bool allow_ib2)
{
   agw_stream_execute(radv_agw_stream(parent), radv_agw_stream(child), allow_ib2 ? 0 : AGW_EXECUTE_COPY);
}

static void
radv_agw_cs_execute_ib(struct radeon_cmdbuf *cs, struct radeon_winsys_bo *bo, const uint64_t va, const uint32_t cdw,
                       const bool predicate)
{
   agw_stream_call(radv_agw_stream(cs), bo ? bo->va : va, cdw, predicate);
}

static void
radv_agw_cs_chain_dgc_ib(struct radeon_cmdbuf *cs, uint64_t va, uint32_t cdw, uint64_t trailer_va, const bool predicate)
{
   /* A call can be predicated; a jump to the commands and back cannot. */
   if (agw_stream_ip(radv_agw_stream(cs)) == AGW_IP_GFX)
      agw_stream_call(radv_agw_stream(cs), va, cdw, predicate);
   else
      agw_stream_detour(radv_agw_stream(cs), va, cdw, trailer_va);
}

static void
radv_agw_cs_pad(struct radeon_cmdbuf *cs, unsigned leave_dw_space)
{
   agw_stream_pad(radv_agw_stream(cs), leave_dw_space);
}

static void
radv_agw_cs_annotate(struct radeon_cmdbuf *cs, const char *marker)
{
   /* Words of the stream itself, unlike RADV's, which stand beside it. */
   agw_stream_annotate(radv_agw_stream(cs), marker);
}

struct dumped {
   struct agw_ib *ibs;
   uint32_t **contents;
   uint32_t count;
};

static void
find_contents(void *data, uint64_t address, struct ac_addr_info *info)
{
   const struct dumped *dumped = data;
   memset(info, 0, sizeof(*info));
   for (uint32_t i = 0; i < dumped->count; i++) {
      const uint64_t offset = address - dumped->ibs[i].va;
      if (address >= dumped->ibs[i].va && offset < dumped->ibs[i].dwords * 4ull && dumped->contents[i]) {
         info->cpu_addr = (char *)dumped->contents[i] + offset;
         info->valid = true;
         return;
      }
   }
}

static void
radv_agw_cs_dump(struct radeon_cmdbuf *cs, FILE *file, const int *trace_ids, int trace_id_count,
                 enum radv_cs_dump_type type)
{
   struct agw_stream *stream = radv_agw_stream(cs);
   const struct radv_agw_winsys *ws = agw_stream_head(stream)->user;
   struct dumped dumped = {0};
   if (agw_stream_ibs(stream, NULL, &dumped.count) != AGW_SUCCESS)
      return;
   dumped.ibs = calloc(dumped.count, sizeof(*dumped.ibs));
   dumped.contents = calloc(dumped.count, sizeof(*dumped.contents));
   uint32_t *sizes = calloc(dumped.count, sizeof(*sizes));
   if (!dumped.ibs || !dumped.contents || !sizes)
      goto out;
   agw_stream_ibs(stream, dumped.ibs, &dumped.count);
   for (uint32_t i = 0; i < dumped.count; i++) {
      sizes[i] = dumped.ibs[i].dwords;
      dumped.contents[i] = calloc(sizes[i], 4);
      if (dumped.contents[i])
         agw_stream_read(stream, i, dumped.contents[i], sizes[i]);
   }
   if (type == RADV_CS_DUMP_TYPE_CTX_ROLLS) {
      ac_gather_context_rolls(file, dumped.contents, sizes, dumped.count, NULL, &ws->info);
   } else {
      const enum amd_ip_type ip = agw_stream_ip(stream);
      const bool jumps = ip == AMD_IP_GFX || ip == AMD_IP_COMPUTE;
      for (uint32_t i = 0; i < (jumps ? MIN2(dumped.count, 1) : dumped.count); i++) {
         struct ac_ib_parser parser = {
            .f = file,
            .ib = dumped.contents[i],
            .num_dw = sizes[i],
            .trace_ids = trace_ids,
            .trace_id_count = trace_id_count,
            .gfx_level = ws->info.gfx_level,
            .vcn_version = ws->info.vcn_ip_version,
            .family = ws->info.family,
            .ip_type = ip,
            .addr_callback = find_contents,
            .addr_callback_data = &dumped,
         };
         if (parser.ib)
            ac_parse_ib(&parser, "IB");
      }
   }
out:
   for (uint32_t i = 0; dumped.contents && i < dumped.count; i++)
      free(dumped.contents[i]);
   free(dumped.contents);
   free(dumped.ibs);
   free(sizes);
}

void
radv_agw_cs_init_functions(struct radv_agw_winsys *ws)
{
   ws->base.cs_domain = radv_agw_cs_domain;
   ws->base.cs_create = radv_agw_cs_create;
   ws->base.cs_destroy = radv_agw_cs_destroy;
   ws->base.cs_reset = radv_agw_cs_reset;
   ws->base.cs_chain = radv_agw_cs_chain;
   ws->base.cs_unchain = radv_agw_cs_unchain;
   ws->base.cs_finalize = radv_agw_cs_finalize;
   ws->base.cs_grow = radv_agw_cs_grow;
   ws->base.cs_add_buffer = radv_agw_cs_add_buffer;
   ws->base.cs_execute_secondary = radv_agw_cs_execute_secondary;
   ws->base.cs_execute_ib = radv_agw_cs_execute_ib;
   ws->base.cs_chain_dgc_ib = radv_agw_cs_chain_dgc_ib;
   ws->base.cs_dump = radv_agw_cs_dump;
   ws->base.cs_annotate = radv_agw_cs_annotate;
   ws->base.cs_pad = radv_agw_cs_pad;
}
