/**
 * Waits for all parts, even if one fails: this process may end after the error, which would cut off the others.
 * @throws the first error
 */
export async function settleAll<T>(parts: readonly Promise<T>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(parts);
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}
