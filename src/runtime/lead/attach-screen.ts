import { onSuspend } from "../../os/process/suspend.ts";
import type { LeadScreen } from "./team-screen.ts";

/**
 * Follows the terminal's size, and restores the terminal however the process ends, except by SIGKILL.
 * @returns a function that stops this and shows the lead's view
 */
export function attachScreen(screen: LeadScreen, signal: AbortSignal): () => void {
  const leave = (): void => screen.leave();
  const changed = (): void => screen.changed();
  const stopWatching = screen.watch();
  process.stdout.on("resize", changed);
  const stopSuspendHandler = onSuspend(leave);
  signal.addEventListener("abort", leave);
  process.on("exit", leave);
  return () => {
    leave();
    stopWatching();
    process.stdout.off("resize", changed);
    signal.removeEventListener("abort", leave);
    process.off("exit", leave);
    stopSuspendHandler();
  };
}
