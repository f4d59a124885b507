/** The tasks of a session, from the calls that write its list of tasks. */
import { isRecord, toList, toText } from "../utils/json.ts";

interface Todos {
  add(input: unknown): void;
  /** The tasks that are not done. */
  open(): string[];
  /** The task in progress, else the first; undefined without tasks. */
  current(): string | undefined;
}

/** Adds the input of each call of a tool whose role is `todo`. */
export function createTodos(): Todos {
  const tasks = new Map<string, { text: string; done: boolean; active: boolean }>();

  function addTask(id: string, one: unknown): void {
    if (typeof one === "string") tasks.set(id, { text: one, done: false, active: false });
    if (!isRecord(one)) return;
    const text = [one.content, one.step, one.subject, one.title, one.description, one.text].map(toText).find(Boolean);
    if (text === undefined) return;
    const done = isDone(one.status) || one.completed === true;
    tasks.set(id, { text, done, active: isActive(one.status ?? one.state) });
  }

  return {
    add(input) {
      if (!isRecord(input)) return;
      const list = [input.todos, input.plan, input.items, input.todoList].map(toList).find((one) => one.length > 0);
      if (list) {
        tasks.clear();
        for (const [i, one] of list.entries()) addTask(String(i), one);
      } else if (toText(input.subject) !== undefined) addTask(String(tasks.size + 1), input);
      else {
        const task = tasks.get(String(input.taskId));
        if (task && input.status !== undefined) {
          task.done = isDone(input.status);
          task.active = isActive(input.status);
        }
      }
    },
    open: () => [...tasks.values()].filter(({ done }) => !done).map(({ text }) => text),
    current: () => ([...tasks.values()].find(({ active }) => active) ?? tasks.values().next().value)?.text,
  };
}

const isDone = (status: unknown) => status === "completed" || status === "done" || status === "deleted";
const isActive = (status: unknown) => /progress|active|doing/i.test(String(status ?? ""));
