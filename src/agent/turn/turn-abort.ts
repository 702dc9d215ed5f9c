/**
 * Why a turn is aborted whose process is about to end: nothing of that end is written into the conversation, so that the next
 * process goes on with the turn as it does behind a SIGKILL.
 */
export class ProcessEndingAbort extends DOMException {
  constructor() {
    super("The process ends.", "AbortError");
  }
}

export function isProcessEnding(signal: AbortSignal): boolean {
  return signal.reason instanceof ProcessEndingAbort;
}
