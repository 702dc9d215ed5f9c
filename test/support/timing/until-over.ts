/** Polls until something is over. @returns its result */
export async function untilOver<T>(ended: Promise<T>, look: () => void | Promise<void>): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  ended.then(end, end);
  while (!isOver) {
    await look();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}
