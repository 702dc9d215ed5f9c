import { signalProcess } from "./process-table.ts";

/**
 * For a program that draws on its terminal: gives it back before it is stopped (Ctrl-Z).
 * @returns ends that
 */
export function onSuspend(giveBack: () => void): () => void {
  const stop = (): void => {
    giveBack();
    // Without a listener the signal means again what it does by itself: nothing, where nobody could let it go on.
    process.off("SIGTSTP", stop);
    signalProcess(process.pid, "SIGTSTP");
    process.on("SIGTSTP", stop);
  };
  process.on("SIGTSTP", stop);
  return () => process.off("SIGTSTP", stop);
}
