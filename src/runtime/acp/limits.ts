/** Most bytes of one message of a client. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Most characters of one prompt: no more start a turn together, see the turn queue. */
export const MAX_PROMPT = 200_000;
/** Most characters of an embedded file; a longer one is only named, and the lead reads it. */
export const MAX_EMBEDDED = 50_000;
/** Most sessions that one process leads. */
export const MAX_SESSIONS = 16;
/** Most MCP servers of a session. */
export const MAX_SERVERS = 32;
/** Most prompts of a session that have no answer yet. */
export const MAX_OPEN_PROMPTS = 100;
/** Most characters of updates that may wait for a client that does not read. */
export const MAX_WAITING = 64 * 1024 * 1024;
/** Most characters of a tool's result in an update. */
export const MAX_RESULT = 20_000;
/** Most characters of a tool's raw input, and of each text of a diff; a longer one is left out. */
export const MAX_INPUT = 50_000;
/** Most characters of a title. */
export const MAX_TITLE = 200;
/** Most characters of a teammate's message to the lead. */
export const MAX_RECEIVED = 2_000;
/** Most tasks in a plan. */
export const MAX_TASKS = 200;
/** Most entries of a conversation that are replayed. */
export const MAX_REPLAYED = 5_000;
/** Sessions on one page of the list. */
export const LIST_PAGE = 50;
/** Most characters of a request; of a longer one the client's user would allow what it cannot show. */
export const MAX_REQUEST = 200_000;
