/**
 * Returns the processor time in milliseconds that this process spends on some work. Unlike wall-clock time, it does not grow
 * when the machine stalls or runs other programs.
 */
export function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
