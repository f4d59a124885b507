/** Asking again what a change touched. */
import { type UseQueryEntryFilter, useQueryCache } from "@pinia/colada";

/**
 * Resolves when all screens have asked again what one of the filters matches; without a filter everything. Never rejects: what cannot be
 * reloaded shows its own error. The preceding change was made all the same.
 */
export function useRefresh(): (...filters: UseQueryEntryFilter[]) => Promise<void> {
  const cache = useQueryCache();
  return async (...filters) => {
    const asked =
      filters.length === 0 ? [cache.invalidateQueries()] : filters.map((one) => cache.invalidateQueries(one));
    await Promise.allSettled(asked);
  };
}
