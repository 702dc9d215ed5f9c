/**
 * Waits for all parts of a work, even if one fails: this process may end after the error, and would cut the others off.
 * @throws the first error
 */
export async function settleAll<T>(parts: readonly Promise<T>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(parts);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}
