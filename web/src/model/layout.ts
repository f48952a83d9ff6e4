// How a job's devices share one model, from its normalised spec.

interface Layout {
  tensor: number;
  pipeline: number;
  data: number;
}

/** Null if the spec runs a command or its numbers do not fit. */
export function layoutOf(spec: unknown, devices: number): Layout | null {
  const parallel = (spec as { parallel?: { tensor?: unknown; pipeline?: unknown } } | null)?.parallel;
  const { tensor, pipeline } = parallel ?? {};
  if (typeof tensor !== "number" || typeof pipeline !== "number") return null;
  const data = devices / (tensor * pipeline);
  return Number.isInteger(data) ? { tensor, pipeline, data } : null;
}

/** "tensor 2 × pipeline 4 × data 8"; "" if every device has the whole model. */
export function describeLayout(layout: Layout | null): string {
  if (!layout || layout.tensor * layout.pipeline === 1) return "";
  return `tensor ${layout.tensor} × pipeline ${layout.pipeline} × data ${layout.data}`;
}

/** "8", or "8 (4–16)" for an elastic job. */
export function describeSizes(job: { devices: number; sizes?: number[] }): string {
  const sizes = job.sizes ?? [];
  return sizes.length > 0 ? `${job.devices} (${sizes[0]}–${sizes[sizes.length - 1]})` : String(job.devices);
}
