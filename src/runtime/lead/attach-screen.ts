import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import { onSuspend } from "../../os/process/suspend.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { asciiRow } from "../../text/ascii.ts";
import { createLeadScreen, type LeadScreen } from "./team-screen.ts";

/** Creates the screen of the lead and its teammates on this terminal. */
export function openScreen(
  { io }: AnyCall,
  ref: TeamRef,
  inProcess: InProcessBackend,
  { plain, ascii }: { readonly plain: boolean; readonly ascii: boolean },
): LeadScreen {
  const out = ascii ? (text: string): void => io.out(asciiRow(text)) : io.out;
  const size = () => ({ width: io.columns ?? 80, height: io.rows ?? 24 });
  return createLeadScreen({ ref, inProcess, out, size, plain });
}

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
