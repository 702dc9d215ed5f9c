import { signalProcess } from "./process-table.ts";

/**
 * Restores the terminal before this process is suspended (Ctrl-Z), for a program that draws on it.
 * @returns a function that removes the handler
 */
export function onSuspend(restoreTerminal: () => void): () => void {
  const stop = (): void => {
    restoreTerminal();
    // Without a listener the signal has its default effect. The kernel ignores it if no shell could resume the process.
    process.off("SIGTSTP", stop);
    signalProcess(process.pid, "SIGTSTP");
    process.on("SIGTSTP", stop);
  };
  process.on("SIGTSTP", stop);
  return () => process.off("SIGTSTP", stop);
}
