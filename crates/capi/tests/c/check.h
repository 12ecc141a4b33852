/* The check of the programs beside this file. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the line, the condition and the last error unless the condition holds. Needs amdgpu_winsys.h. */
#define CHECK(condition)                                                                                               \
   do {                                                                                                                \
      if (!(condition)) {                                                                                              \
         fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, agw_last_error());                                 \
         exit(1);                                                                                                      \
      }                                                                                                                \
   } while (0)

#endif
