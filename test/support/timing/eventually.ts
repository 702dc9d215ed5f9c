/** Waits until `look` returns a value. @throws with the awaited thing in its message when the time is over */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false && seen !== null) return seen;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
