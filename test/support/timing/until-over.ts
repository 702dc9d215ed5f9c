/** Polls until a promise settles. @returns its result */
export async function pollUntilSettled<T>(ended: Promise<T>, poll: () => void | Promise<void>): Promise<T> {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  ended.then(settle, settle);
  while (!isSettled) {
    await poll();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}
