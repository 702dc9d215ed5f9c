/** Maximum bytes of one message of a client. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Maximum characters of one prompt: as many as the turn queue puts into one turn. */
export const MAX_PROMPT = 200_000;
/** Maximum characters of an embedded file; a longer one is only named, and the lead reads it. */
export const MAX_EMBEDDED = 50_000;
/** Maximum sessions that one process leads. */
export const MAX_SESSIONS = 16;
/** Maximum MCP servers of a session. */
export const MAX_SERVERS = 32;
/** Maximum unanswered prompts of a session. */
export const MAX_OPEN_PROMPTS = 100;
/** Maximum characters of updates queued for a client that does not read. */
export const MAX_WAITING = 64 * 1024 * 1024;
/** Maximum characters of a tool result in an update. */
export const MAX_RESULT = 20_000;
/** Maximum characters of a tool's raw input, and of each text of a diff; a longer one is left out. */
export const MAX_INPUT = 50_000;
/** Maximum characters of a title. */
export const MAX_TITLE = 200;
/** Maximum characters of a teammate's message to the lead. */
export const MAX_RECEIVED = 2_000;
/** Maximum tasks in a plan. */
export const MAX_TASKS = 200;
/** Maximum entries of a conversation that are replayed. */
export const MAX_REPLAYED = 5_000;
/** Sessions on one page of the list. */
export const LIST_PAGE = 50;
/** Maximum characters of a permission request: the user must be able to see all that they allow. */
export const MAX_REQUEST = 200_000;
