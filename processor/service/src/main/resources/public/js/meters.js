// Rates and quantiles from what an instance has counted since its start.

const KEPT = 80;
const WINDOW = 60_000;
const samples = new Map();

/** Remembers what these instances say now, and forgets all others, which have ended. */
export function remember(instances) {
  const living = new Set(instances.map(({ name }) => name));
  for (const name of samples.keys()) if (!living.has(name)) samples.delete(name);
  instances.forEach(rememberOne);
}

/** One that has begun anew begins anew here. */
function rememberOne(instance) {
  const kept = samples.get(instance.name) ?? [];
  const last = kept.at(-1);
  const now = { at: performance.now(), meters: instance.meters };
  if (last && total(now.meters) < total(last.meters)) kept.length = 0;
  kept.push(now);
  if (kept.length > KEPT) kept.shift();
  samples.set(instance.name, kept);
}

const total = (meters) => meters.store.count + sum(meters.deliveries);
const sum = (deliveries) => Object.values(deliveries).reduce((all, each) => all + each, 0);

function span(name) {
  const kept = samples.get(name) ?? [];
  const last = kept.at(-1);
  const first = kept.find((sample) => last.at - sample.at <= WINDOW);
  return !last || first === last ? null : { first, last, seconds: (last.at - first.at) / 1000 };
}

/** Deliveries a second that ended so, over the last minute; null if that is not known yet. */
export function rateOf(name, result) {
  const { first, last, seconds } = span(name) ?? {};
  if (!first) return null;
  return (
    ((last.meters.deliveries[result] ?? 0) - (first.meters.deliveries[result] ?? 0)) / seconds
  );
}

/** The same from sample to sample, for a line. */
export function ratesOf(name, result) {
  const kept = samples.get(name) ?? [];
  return kept.slice(1).map((sample, i) => {
    const before = kept[i];
    const more = (sample.meters.deliveries[result] ?? 0) - (before.meters.deliveries[result] ?? 0);
    return (more * 1000) / Math.max(1, sample.at - before.at);
  });
}

const upTo = (buckets, bound) => buckets.findLast((bucket) => bucket.millis <= bound)?.count ?? 0;

/**
 * How long a part of the calls took at most: of the last minute, or since the start if there was
 * none since; null if there was none at all.
 */
export function quantile(name, timing, part) {
  const kept = samples.get(name) ?? [];
  const last = kept.at(-1)?.meters[timing];
  if (!last || last.count === 0) return null;
  const first = span(name)?.first.meters[timing];
  const recent = first && last.count > first.count;
  const before = recent ? first : { count: 0, buckets: [] };
  const wanted = (last.count - before.count) * part;
  const found = last.buckets.find(
    ({ millis, count }) => count - upTo(before.buckets, millis) >= wanted,
  );
  return (found ?? last.buckets.at(-1))?.millis ?? null;
}
