/**
 * Aborts a turn because its process is about to end. The conversation does not record this end, so that the next process
 * resumes the turn as after a SIGKILL. A separate file, so that the worker's lifecycle does not load the turn.
 */
export class ProcessEndingAbort extends DOMException {
  constructor() {
    super("The process ends.", "AbortError");
  }
}

export function isProcessEnding(signal: AbortSignal): boolean {
  return signal.reason instanceof ProcessEndingAbort;
}
