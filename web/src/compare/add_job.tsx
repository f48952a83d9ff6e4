// Adds a job to a comparison by its number, or by a part of its name, labels or number.
import { useRef, useState } from "preact/hooks";
import { getJobPage } from "../api/client";
import { mostJobs, writeNumbers } from "../model/compare_address";
import { pushParams } from "../state/router";
import { useQuery } from "../hooks/use_query";
import { useSettled } from "../hooks/use_settled";

const offered = 8;
/** The text is searched for once no key has been pressed for this long. */
const settledMs = 150;

export function AddJob({ jobs }: { jobs: readonly number[] }) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const typed = text.trim();
  const query = { q: useSettled(typed, settledMs), limit: String(offered) };
  const found = useQuery(`jobs like ${query.q}`, async (signal) =>
    query.q === "" ? [] : (await getJobPage(query, signal)).jobs,
  );
  const choices = query.q === typed ? (found.data ?? []).filter(({ id }) => !jobs.includes(id)) : [];
  const add = (id: number) => {
    if (!jobs.includes(id)) pushParams({ jobs: writeNumbers([...jobs, id]) });
    setText("");
    input.current?.focus();
  };
  /** A choice from the list fills in the whole number; typed text waits for Enter. */
  const onInput = (event: InputEvent) => {
    const { value } = event.currentTarget as HTMLInputElement;
    const chosen = event.inputType === "insertReplacementText" || event.inputType === undefined;
    const number = Number(value);
    if (chosen && choices.some(({ id }) => id === number)) return add(number);
    setText(value);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const number = Number(text);
    if (Number.isSafeInteger(number) && number > 0) add(number);
    else if (choices[0]) add(choices[0].id);
  };
  if (jobs.length >= mostJobs) return <span class="muted">at most {mostJobs} jobs</span>;
  return (
    <form class="add-job" onSubmit={submit}>
      <input
        ref={input}
        type="text"
        list="add-job-choices"
        aria-label="Add a job"
        placeholder="Add a job: number or name"
        value={text}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => onInput(event as unknown as InputEvent)}
      />
      <datalist id="add-job-choices">
        {choices.map(({ id, name, state }) => (
          <option key={id} value={String(id)}>
            {name} ({state})
          </option>
        ))}
      </datalist>
      <button type="submit" class="button">
        Add
      </button>
    </form>
  );
}
